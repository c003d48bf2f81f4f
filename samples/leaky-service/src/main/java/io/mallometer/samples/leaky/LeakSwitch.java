package io.mallometer.samples.leaky;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.springframework.util.unit.DataSize;

/**
 * Decides which native objects one step of the service leaks.
 *
 * <p>A step calls {@link #forgets} before it releases an object. The rate of the leak does not
 * depend on the load. The leak stops at the cap, and pauses while the process has its largest
 * allowed size. Thread-safe.
 */
final class LeakSwitch {
  private final DataSize rate;
  private final DataSize cap;
  private final BooleanSupplier isFull;
  private final Allowance allowance;
  private boolean on;
  private long lostBytes;
  private long lostObjects;

  /**
   * @param isFull whether the process has its largest allowed size
   */
  LeakSwitch(DataSize rate, DataSize cap, BooleanSupplier isFull, LongSupplier nanoTime) {
    this.rate = rate;
    this.cap = cap;
    this.isFull = isFull;
    this.allowance = new Allowance(rate.toBytes(), nanoTime);
  }

  /** Switches the leak on or off. Lost memory stays lost until the process ends. */
  synchronized void turn(boolean on) {
    if (on && !this.on) {
      allowance.empty();
    }
    this.on = on;
  }

  /**
   * Returns true if the caller must not release its object.
   *
   * @param bytes the approximate native memory of the object
   */
  synchronized boolean forgets(long bytes) {
    if (!on
        || lostBytes + bytes > cap.toBytes()
        || isFull.getAsBoolean()
        || !allowance.spend(bytes)) {
      return false;
    }
    lostBytes += bytes;
    lostObjects++;
    return true;
  }

  synchronized State state() {
    return new State(on, lostBytes, lostObjects, rate.toBytes(), cap.toBytes());
  }

  /**
   * The state of a leak.
   *
   * @param on whether the leak is on
   * @param lostBytes the native memory that was lost so far, as the service estimates it
   * @param lostObjects the number of objects that were lost so far
   * @param bytesPerSecond the rate at which bytes are lost while the leak is on
   * @param capBytes the lost bytes at which the leak stops
   */
  record State(boolean on, long lostBytes, long lostObjects, long bytesPerSecond, long capBytes) {}
}
