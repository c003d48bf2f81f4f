package io.mallometer.junit;

import io.mallometer.model.CallSite;
import io.mallometer.model.CodeOwner;
import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * Decides which call sites count for a test. HotSpot's own call sites, such as for loading a class,
 * do not count, even if the test's class is on the stack.
 *
 * <p>Memory of {@code Unsafe} counts, for example of direct buffers, although HotSpot allocates it.
 */
final class SiteOwner {

  private static final String HOTSPOT = "libjvm.";
  private static final String UNSAFE_IN_HOTSPOT = "Unsafe_";
  private static final String UNSAFE = ".misc.Unsafe";

  private static final List<String> JDK =
      List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "[");

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

  static boolean isOfProgram(CallSite site) {
    return site.codeOwner() == CodeOwner.APPLICATION && !isOfHotSpot(site) && !isOfHarness(site);
  }

  /** Returns whether a stack contains a test class, its nested classes and lambdas included. */
  static boolean leadsThrough(Class<?> test, CallSite site) {
    return site.frames().stream().anyMatch(frame -> isOf(test, frame));
  }

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
