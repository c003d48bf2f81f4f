package io.mallometer.internal.symbol;

import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * A hash of the function names of a stack, in 16 hexadecimal digits. The hash is the same in every
 * run of a program. It does not depend on addresses, on line numbers, on numbers in the names of
 * generated classes, or on the JDK's frames for reflection and method handles.
 *
 * <p>A native function without a symbol counts with its offset in the library, which differs
 * between builds of the library.
 */
public final class StackFingerprint {

  private static final int DIGITS = 16;
  private static final List<String> LEFT_OUT =
      List.of("jdk.internal.reflect.", "java.lang.invoke.");

  /** The start value of the 64-bit hash FNV-1a. */
  private static final long OFFSET_BASIS = 0xcbf29ce484222325L;

  private static final long PRIME = 0x100000001b3L;

  private StackFingerprint() {}

  public static String of(List<StackFrame> frames) {
    long hash = OFFSET_BASIS;
    for (StackFrame frame : frames) {
      if (frame.kind() == StackFrame.Kind.NATIVE) {
        hash = with(hash, frame.owner());
        hash = with(hash, place(frame));
      } else if (LEFT_OUT.stream().noneMatch(frame.owner()::startsWith)) {
        hash = with(hash, JavaNames.ofClass(frame.owner()));
        hash = with(hash, JavaNames.ofMethod(frame.name()));
      }
    }
    String digits = Long.toHexString(hash);
    return "0".repeat(DIGITS - digits.length()) + digits;
  }

  public static boolean isOne(String text) {
    return text.length() == DIGITS
        && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
  }

  private static String place(StackFrame frame) {
    boolean known = frame.owner().isEmpty() || !frame.name().isEmpty();
    return known ? frame.name() : Long.toHexString(frame.offset());
  }

  /**
   * Adds a name and an end mark to a hash. The mark makes {@code ab}, {@code c} differ from {@code
   * a}, {@code bc}.
   */
  private static long with(long hash, String name) {
    long longer = hash;
    for (int i = 0; i < name.length(); i++) {
      longer = (longer ^ name.charAt(i)) * PRIME;
    }
    return (longer ^ '\n') * PRIME;
  }
}
