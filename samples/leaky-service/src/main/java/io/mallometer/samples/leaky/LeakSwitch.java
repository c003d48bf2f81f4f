package io.mallometer.samples.leaky;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.springframework.util.unit.DataSize;

/**
 * Decides which releases one step of the service forgets.
 *
 * <p>A step that is about to give native memory back asks {@link #forgets}. While the switch is on
 * the answer is yes just often enough that the lost bytes follow a steady rate, whatever the load,
 * and never once the cap is reached or the process is full. Thread-safe.
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
   * @param isFull whether the process is as large as it may become
   */
  LeakSwitch(DataSize rate, DataSize cap, BooleanSupplier isFull, LongSupplier nanoTime) {
    this.rate = rate;
    this.cap = cap;
    this.isFull = isFull;
    this.allowance = new Allowance(rate.toBytes(), nanoTime);
  }

  /** Switches the leak on or off. What is lost already stays lost until the process ends. */
  synchronized void turn(boolean on) {
    if (on && !this.on) {
      allowance.empty();
    }
    this.on = on;
  }

  /**
   * Whether the caller is to keep the object that it is about to release.
   *
   * @param bytes roughly the native memory behind the object
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
   * What a switch has done so far.
   *
   * @param on whether it forgets releases now
   * @param lostBytes native memory lost so far, roughly: the service's own bookkeeping, not a
   *     measurement
   * @param lostObjects objects lost so far
   * @param bytesPerSecond the rate at which bytes are lost while on
   * @param capBytes where it stops
   */
  record State(boolean on, long lostBytes, long lostObjects, long bytesPerSecond, long capBytes) {}
}
