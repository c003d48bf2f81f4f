package io.mallometer.model;

import java.util.List;
import java.util.Locale;

/** The part of the process that a call site belongs to. */
public enum CodeOwner implements Tagged {
  /** The program and the libraries that it uses. */
  APPLICATION,

  /** HotSpot, without a method of the program on the stack. */
  JVM,

  /** Classes or the library of mallometer. */
  MALLOMETER;

  private static final List<String> JDK =
      List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "[");

  private static final List<String> OWN_CLASSES =
      List.of(
          "io.mallometer.Mallometer",
          "io.mallometer.NativeScope",
          "io.mallometer.agent.",
          "io.mallometer.internal.",
          "io.mallometer.jfr.",
          "io.mallometer.jmx.",
          "io.mallometer.meter.",
          "io.mallometer.micrometer.",
          "io.mallometer.model.",
          "io.mallometer.page.",
          "io.mallometer.prometheus.",
          "io.mallometer.report.",
          "io.mallometer.spring.",
          "io.mallometer.view.");

  private static final String OWN_LIBRARY = "libmallometer.";
  private static final String LIBRARY_OF_JVM = "libjvm.";

  /**
   * Part of the names of the HotSpot functions that allocate for Java code, for example for direct
   * buffers.
   */
  private static final String UNSAFE = "!Unsafe_";

  /** Returns the name that URLs use. */
  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the owner of a call site. The frames are searched from the innermost on: a frame of
   * mallometer's library means {@link #MALLOMETER}, and the first Java frame outside the JDK means
   * the owner of its class. Without such a frame, the name of the call site decides.
   *
   * @param name the name of the call site
   * @param frames the stack, innermost first
   */
  public static CodeOwner of(String name, List<StackFrame> frames) {
    for (StackFrame frame : frames) {
      if (frame.kind() == StackFrame.Kind.NATIVE) {
        if (frame.owner().startsWith(OWN_LIBRARY)) {
          return MALLOMETER;
        }
      } else if (!startsWithAny(frame.owner(), JDK)) {
        return startsWithAny(frame.owner(), OWN_CLASSES) ? MALLOMETER : APPLICATION;
      }
    }
    return name.startsWith(LIBRARY_OF_JVM) && !name.contains(UNSAFE) ? JVM : APPLICATION;
  }

  private static boolean startsWithAny(String name, List<String> beginnings) {
    for (String beginning : beginnings) {
      if (name.startsWith(beginning)) {
        return true;
      }
    }
    return false;
  }
}
