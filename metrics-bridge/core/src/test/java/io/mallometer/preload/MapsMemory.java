package io.mallometer.preload;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.Mallometer;
import io.mallometer.model.ResidentStacks;
import io.mallometer.report.ReportFormat;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Maps, touches and unmaps memory through a foreign function. Prints which code requested the
 * resident memory.
 *
 * <p>JNA calls the function. With the argument {@code linker}, the foreign-function interface of
 * JDK 22 and later calls it. With {@code attach}, the program first attaches the library, and
 * detaches it at the end while another thread maps memory.
 */
final class MapsMemory {

  static final long BYTES = 120L << 20;

  private static final int READ_AND_WRITE = 3;
  private static final int PRIVATE_AND_ANONYMOUS = 0x22;

  private MapsMemory() {}

  public static void main(String[] arguments) throws Throwable {
    try (Mallometer mallometer = Mallometer.open()) {
      boolean attaches = List.of(arguments).contains("attach");
      boolean links = List.of(arguments).contains("linker");
      if (links) {
        // The first call of the linker loads and compiles much code. The memory for this must not
        // change while it is measured.
        unmap(new Pointer(mapLinked()));
      }
      if (attaches) {
        System.out.println(mallometer.counting().attach());
      }
      print("before", mallometer);
      Pointer memory = links ? new Pointer(mapLinked()) : mapMemory(BYTES);
      memory.clear(BYTES);
      print("mapped", mallometer);
      unmap(memory);
      print("unmapped", mallometer);
      if (attaches) {
        detachWhileAThreadMaps(mallometer);
        Pointer after = mapMemory(BYTES);
        after.clear(BYTES);
        System.out.println("detached and mapped " + (after.getByte(0) == 0));
      }
    }
  }

  /**
   * Detaches and attaches several times while another thread maps memory without pause, so that the
   * library walks this thread's stack nearly all the time.
   */
  private static void detachWhileAThreadMaps(Mallometer mallometer) throws Exception {
    AtomicLong mapped = new AtomicLong();
    AtomicBoolean ends = new AtomicBoolean();
    Thread thread =
        new Thread(
            () -> {
              while (!ends.get()) {
                unmap(mapMemory(BYTES));
                mapped.incrementAndGet();
              }
            });
    thread.start();
    for (int i = 0; i < 20; i++) {
      awaitMore(mapped);
      System.out.println("detach " + mallometer.counting().detach().state());
      awaitMore(mapped);
      if (i < 19) {
        System.out.println("attach " + mallometer.counting().attach().state());
      }
    }
    ends.set(true);
    thread.join();
  }

  private static void awaitMore(AtomicLong mapped) {
    long before = mapped.get();
    while (mapped.get() < before + 10) {
      Thread.onSpinWait();
    }
  }

  private static long mapLinked() throws Throwable {
    return (long)
        ForeignCalls.function("mmap", 6)
            .invokeExact(0L, BYTES, (long) READ_AND_WRITE, (long) PRIVATE_AND_ANONYMOUS, -1L, 0L);
  }

  private static void unmap(Pointer memory) {
    function("munmap").invokeInt(new Object[] {memory, BYTES});
  }

  static Pointer mapMemory(long bytes) {
    return function("mmap")
        .invokePointer(
            new Object[] {Pointer.NULL, bytes, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, -1, 0L});
  }

  private static Function function(String name) {
    return NativeLibrary.getProcess().getFunction(name);
  }

  /** Returns the resident set size in bytes that the kernel computes. */
  private static long residentBytesOfKernel() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
      if (line.startsWith("Rss:")) {
        return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IllegalStateException("smaps_rollup has no Rss");
  }

  private static void print(String moment, Mallometer mallometer) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long before = residentBytesOfKernel();
    long begin = threads.getCurrentThreadCpuTime();
    Instant now = Instant.now();
    ResidentStacks read = mallometer.sites().resident();
    // A call may return an old reading, and waits at most 10 s for a new one. So the program
    // repeats the call.
    while (read.stacks().isEmpty() || read.time().isBefore(now)) {
      TimeUnit.MILLISECONDS.sleep(100);
      read = mallometer.sites().resident();
    }
    System.out.println("CPU time " + (threads.getCurrentThreadCpuTime() - begin) / 1000 + " us");
    long after = residentBytesOfKernel();
    System.out.println("== " + moment + " " + read.residentBytes() + " " + read.reason());
    System.out.println("kernel's least " + moment + " " + Math.min(before, after));
    System.out.println("kernel's most " + moment + " " + Math.max(before, after));
    ReportFormat.COLLAPSED.write(read, System.out);
    System.out.flush();
  }
}
