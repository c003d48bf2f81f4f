package io.mallometer.preload;

import java.util.function.IntUnaryOperator;

/**
 * A class that allocates native memory, lives for at least another second, and is then unloaded.
 */
public final class LivedASecond implements IntUnaryOperator {

  /**
   * The size of an object that is never freed. The size exceeds every sampling interval, so that
   * the object is certain to be sampled.
   */
  static final int BYTES = 2 << 20;

  @Override
  public int applyAsInt(int unused) {
    return Long.bitCount(NativeWork.allocateMemory(BYTES));
  }
}
