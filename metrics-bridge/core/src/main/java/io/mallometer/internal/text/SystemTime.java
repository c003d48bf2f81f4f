package io.mallometer.internal.text;

import java.util.function.LongSupplier;

/** {@link System#nanoTime()} as an object, without the lambda that the JVM would have to make. */
public final class SystemTime implements LongSupplier {

  public static final SystemTime NANOS = new SystemTime();

  private SystemTime() {}

  @Override
  public long getAsLong() {
    return System.nanoTime();
  }
}
