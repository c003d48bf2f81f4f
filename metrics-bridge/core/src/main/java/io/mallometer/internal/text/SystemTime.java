package io.mallometer.internal.text;

import java.util.function.LongSupplier;

/**
 * Supplies {@link System#nanoTime()}. A method reference would make the JVM generate a class at
 * start-up.
 */
public final class SystemTime implements LongSupplier {

  public static final SystemTime NANOS = new SystemTime();

  private SystemTime() {}

  @Override
  public long getAsLong() {
    return System.nanoTime();
  }
}
