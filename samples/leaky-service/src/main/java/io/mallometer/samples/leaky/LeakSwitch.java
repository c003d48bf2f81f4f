package io.mallometer.samples.leaky;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.springframework.util.unit.DataSize;

/**
 * Lets one step of the service lose memory: decides which of its native objects the step does not
 * release.
 *
 * <p>A step that is about to release native memory calls {@link #forgets}. While the switch is on,
 * the method returns true just often enough that bytes are lost at a steady rate, whatever the
 * load. The method returns false once the cap is reached, or while the process has its largest
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
   * Returns whether the caller should not release its object.
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
   * The state of a switch, and its losses so far.
   *
   * @param on whether the switch is on
   * @param lostBytes the lost native memory so far, estimated by the service rather than measured
   * @param lostObjects the lost objects so far
   * @param bytesPerSecond the rate at which bytes are lost while the switch is on
   * @param capBytes the lost bytes at which the leak stops
   */
  record State(boolean on, long lostBytes, long lostObjects, long bytesPerSecond, long capBytes) {}
}
