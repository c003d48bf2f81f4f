package io.mallometer.internal.symbol;

import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * A stack in 16 hexadecimal digits that are the same in every run of a program: a hash of the names
 * of its functions, without addresses, lines, and what was numbered at runtime.
 *
 * <p>Of a native function without a symbol the place in its library stands for the name; another
 * build of the library has another. How a method is called by reflection or through a method handle
 * changes while a program runs, so the JDK's frames of that are left out.
 */
public final class StackFingerprint {

  private static final int DIGITS = 16;
  private static final List<String> LEFT_OUT =
      List.of("jdk.internal.reflect.", "java.lang.invoke.");

  /** The hash is FNV-1a of 64 bits. */
  private static final long OFFSET_BASIS = 0xcbf29ce484222325L;

  private static final long PRIME = 0x100000001b3L;

  private StackFingerprint() {}

  /**
   * The fingerprint of a stack.
   *
   * @param frames innermost first
   */
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

  /** Whether a text can be a fingerprint. */
  public static boolean isOne(String text) {
    return text.length() == DIGITS
        && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
  }

  private static String place(StackFrame frame) {
    boolean known = frame.owner().isEmpty() || !frame.name().isEmpty();
    return known ? frame.name() : Long.toHexString(frame.offset());
  }

  /** With an end, so that a name that goes on is not the next one. */
  private static long with(long hash, String name) {
    long longer = hash;
    for (int i = 0; i < name.length(); i++) {
      longer = (longer ^ name.charAt(i)) * PRIME;
    }
    return (longer ^ '\n') * PRIME;
  }
}
