package io.mallometer.preload;

import java.util.function.IntUnaryOperator;

/** A class that is unloaded while what it allocated stays, a second and more after its start. */
public final class LivedASecond implements IntUnaryOperator {

  /** Never freed. Above any interval, so that it is sampled for sure. */
  static final int BYTES = 2 << 20;

  @Override
  public int applyAsInt(int unused) {
    return Long.bitCount(NativeWork.allocateMemory(BYTES));
  }
}
