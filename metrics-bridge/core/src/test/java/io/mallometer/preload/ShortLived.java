package io.mallometer.preload;

import java.util.function.IntUnaryOperator;
import java.util.zip.Deflater;

/**
 * A class that many short-lived class loaders load. It allocates native memory in its method, in
 * lambdas and in its initializer.
 */
public final class ShortLived implements IntUnaryOperator {

  private static final int LEVEL = compressedSize(Deflater.BEST_SPEED, 64) % 9;

  private static int compressedSize(int level, int size) {
    Deflater deflater = new Deflater(level);
    try {
      deflater.setInput(new byte[size]);
      deflater.finish();
      return deflater.deflate(new byte[256]);
    } finally {
      deflater.end();
    }
  }

  @Override
  public int applyAsInt(int size) {
    IntUnaryOperator twice = bytes -> compressedSize(LEVEL, bytes) + LEVEL;
    NativeWork.freeMemory(NativeWork.allocateMemory(size + 16));
    return twice.applyAsInt(size) + twice.andThen(this::half).applyAsInt(size / 2);
  }

  private int half(int size) {
    NativeWork.freeMemory(NativeWork.allocateMemory(size / 2 + 8));
    return size / 2;
  }
}
