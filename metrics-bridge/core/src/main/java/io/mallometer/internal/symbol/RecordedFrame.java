package io.mallometer.internal.symbol;

/**
 * How the native library writes a frame into 64 bits. A native frame is its return address. A Java
 * frame has the highest bit set, which no address in a process has; below are the number of the
 * method and, in 16 bits, the bytecode index.
 */
public final class RecordedFrame {

  private static final int INDEX_BITS = 16;
  private static final int UNKNOWN_INDEX = 0xffff;

  private RecordedFrame() {}

  /** Whether it is a Java frame. */
  public static boolean isJava(long frame) {
    return frame < 0;
  }

  /** How many frames of a stack, the last ones, are Java's. */
  public static int javaFrames(long[] stack) {
    int first = stack.length;
    while (first > 0 && isJava(stack[first - 1])) {
      first--;
    }
    return stack.length - first;
  }

  /** The number of a Java frame's method. */
  public static int method(long frame) {
    return (int) (frame >>> INDEX_BITS);
  }

  /** The bytecode index of a Java frame; -1 in a native method, or if it is not known. */
  public static int bytecodeIndex(long frame) {
    int index = (int) frame & UNKNOWN_INDEX;
    return index == UNKNOWN_INDEX ? -1 : index;
  }

  /** A Java frame. */
  public static long ofJava(int method, int bytecodeIndex) {
    return Long.MIN_VALUE | (method & 0xffff_ffffL) << INDEX_BITS | (bytecodeIndex & UNKNOWN_INDEX);
  }
}
