package io.mallometer.preload;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.CallSite;
import io.mallometer.model.StackFrame;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes the JVM collect garbage many times, and prints which kinds of the JVM's own threads appear
 * in the stacks of call sites.
 */
final class OwnThreads {

  /** The outermost functions of compiler threads, of collectors' workers and of the VM thread. */
  private static final Set<String> BEGINNINGS =
      Set.of(
          "CompileBroker::compiler_thread_loop",
          "GangWorker::run",
          "WorkerThread::run",
          "VMThread::run");

  private OwnThreads() {}

  public static void main(String[] arguments) {
    NativeLibrary library = new ProcessLibrary();
    library.callSites(Instant.now(), List.of());
    for (int i = 0; i < 20; i++) {
      System.gc();
    }
    Set<String> seen = new TreeSet<>();
    for (CallSite site : library.callSites(Instant.now(), List.of()).sites()) {
      for (StackFrame frame : site.frames()) {
        if (BEGINNINGS.contains(frame.name()) && frame.owner().equals("libjvm.so")) {
          seen.add(frame.name() + (hasJava(site) ? " below Java" : ""));
        }
      }
    }
    System.out.println("seen=" + seen);
  }

  private static boolean hasJava(CallSite site) {
    return site.frames().stream().anyMatch(frame -> frame.kind() == StackFrame.Kind.JAVA);
  }
}
