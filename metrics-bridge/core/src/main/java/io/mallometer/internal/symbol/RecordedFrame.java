package io.mallometer.internal.symbol;

/**
 * A frame as the native library records it, in 64 bits. A native frame is its return address. A
 * Java frame has the highest bit set, which no address has; the lowest 16 bits are the bytecode
 * index, and the bits between are the number of the method.
 */
public final class RecordedFrame {

  private static final int INDEX_BITS = 16;
  private static final int UNKNOWN_INDEX = 0xffff;

  private static final int COMPILED_INDEX = 0xfffe;

  private RecordedFrame() {}

  public static boolean isJava(long frame) {
    return frame < 0;
  }

  /** Returns whether a frame stands for the method that the JIT compiler was compiling. */
  public static boolean isCompiled(long frame) {
    return isJava(frame) && bytecodeIndex(frame) == COMPILED_INDEX;
  }

  public static int javaFrames(long[] stack) {
    int first = stack.length;
    while (first > 0 && isJava(stack[first - 1])) {
      first--;
    }
    return stack.length - first;
  }

  public static int method(long frame) {
    return (int) (frame >>> INDEX_BITS);
  }

  /** Returns the bytecode index of a Java frame; -1 if it is unknown or the method is native. */
  public static int bytecodeIndex(long frame) {
    int index = (int) frame & UNKNOWN_INDEX;
    return index == UNKNOWN_INDEX ? -1 : index;
  }

  public static long ofJava(int method, int bytecodeIndex) {
    return Long.MIN_VALUE | (method & 0xffff_ffffL) << INDEX_BITS | (bytecodeIndex & UNKNOWN_INDEX);
  }
}
