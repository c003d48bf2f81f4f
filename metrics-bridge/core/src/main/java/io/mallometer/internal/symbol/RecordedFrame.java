package io.mallometer.internal.symbol;

/**
 * The 64 bits of a frame as the native library records it. A native frame is its return address. A
 * Java frame has the highest bit set, which no address in a process has. Its lowest 16 bits are the
 * bytecode index, and the bits between them are the number of the method.
 */
public final class RecordedFrame {

  private static final int INDEX_BITS = 16;
  private static final int UNKNOWN_INDEX = 0xffff;

  private static final int COMPILED_INDEX = 0xfffe;

  private RecordedFrame() {}

  /** Returns whether a frame is a Java frame. */
  public static boolean isJava(long frame) {
    return frame < 0;
  }

  /** Returns whether a frame is the method that a compiler thread compiles. */
  public static boolean isCompiled(long frame) {
    return isJava(frame) && bytecodeIndex(frame) == COMPILED_INDEX;
  }

  /** Returns the number of Java frames at the end of a stack. */
  public static int javaFrames(long[] stack) {
    int first = stack.length;
    while (first > 0 && isJava(stack[first - 1])) {
      first--;
    }
    return stack.length - first;
  }

  /** Returns the number of a Java frame's method. */
  public static int method(long frame) {
    return (int) (frame >>> INDEX_BITS);
  }

  /** Returns the bytecode index of a Java frame; -1 in a native method, or if it is unknown. */
  public static int bytecodeIndex(long frame) {
    int index = (int) frame & UNKNOWN_INDEX;
    return index == UNKNOWN_INDEX ? -1 : index;
  }

  public static long ofJava(int method, int bytecodeIndex) {
    return Long.MIN_VALUE | (method & 0xffff_ffffL) << INDEX_BITS | (bytecodeIndex & UNKNOWN_INDEX);
  }
}
