package io.mallometer.junit;

import io.mallometer.model.CallSite;
import io.mallometer.model.Owner;
import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * Which call sites count for a test.
 *
 * <p>HotSpot allocates in the threads of the program, too: when it loads a class, resolves a call
 * or asks for a compilation. None of that is the test's, however deep its stack is in the test.
 * What {@code Unsafe} allocates, such as the memory of direct buffers, also comes from HotSpot, and
 * counts.
 */
final class SiteOwner {

  private static final String HOTSPOT = "libjvm.";
  private static final String UNSAFE_IN_HOTSPOT = "Unsafe_";
  private static final String UNSAFE = ".misc.Unsafe";

  private static final List<String> JDK =
      List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "[");

  /** Runs the tests, and measures them. */
  private static final List<String> HARNESS =
      List.of(
          "io.mallometer.junit.",
          "org.junit.",
          "org.opentest4j.",
          "org.apache.maven.surefire.",
          "org.gradle.",
          "worker.org.gradle.",
          "com.intellij.rt.");

  private SiteOwner() {}

  /** Whether a site is the program's. */
  static boolean isOfProgram(CallSite site) {
    return site.owner() == Owner.APPLICATION && !isOfHotSpot(site) && !isOfHarness(site);
  }

  /** Whether a site's stack leads through a test class, its nested classes and lambdas included. */
  static boolean leadsThrough(Class<?> test, CallSite site) {
    return site.frames().stream().anyMatch(frame -> isOf(test, frame));
  }

  /** Whether a frame is one of a test class. */
  static boolean isOf(Class<?> test, StackFrame frame) {
    String name = test.getName();
    return frame.kind() == StackFrame.Kind.JAVA
        && frame.owner().startsWith(name)
        && (frame.owner().length() == name.length()
            || "$/".indexOf(frame.owner().charAt(name.length())) >= 0);
  }

  private static boolean isOfHotSpot(CallSite site) {
    return site.library().startsWith(HOTSPOT)
        && site.frames().stream().noneMatch(SiteOwner::isUnsafe);
  }

  private static boolean isUnsafe(StackFrame frame) {
    return frame.kind() == StackFrame.Kind.NATIVE
        ? frame.name().startsWith(UNSAFE_IN_HOTSPOT)
        : frame.owner().endsWith(UNSAFE) && frame.name().contains("llocateMemory");
  }

  private static boolean isOfHarness(CallSite site) {
    for (StackFrame frame : site.frames()) {
      if (frame.kind() == StackFrame.Kind.JAVA && !startsWithAny(frame.owner(), JDK)) {
        return startsWithAny(frame.owner(), HARNESS);
      }
    }
    return false;
  }

  private static boolean startsWithAny(String name, List<String> beginnings) {
    return beginnings.stream().anyMatch(name::startsWith);
  }
}
