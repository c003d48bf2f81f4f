package io.mallometer.samples.leaky;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

class LeakSwitchTest {
  private static final DataSize RATE = DataSize.ofKilobytes(100);
  private static final DataSize CAP = DataSize.ofMegabytes(1);
  private static final long OBJECT = 10_000;

  private final AtomicLong nanoTime = new AtomicLong();
  private final AtomicBoolean full = new AtomicBoolean();
  private final LeakSwitch leak = new LeakSwitch(RATE, CAP, full::get, nanoTime::get);

  @Test
  void nothingIsLostWhileOff() {
    releaseForSeconds(5);
    assertThat(leak.state().lostBytes()).isZero();
  }

  @Test
  void bytesAreLostAtTheRateWhileOn() {
    leak.turn(true);
    releaseForSeconds(5);
    assertThat(leak.state().lostBytes()).isBetween(5 * RATE.toBytes(), 5 * RATE.toBytes() + OBJECT);
  }

  @Test
  void nothingMoreIsLostAfterItIsOffAgain() {
    leak.turn(true);
    releaseForSeconds(2);
    leak.turn(false);
    long lost = leak.state().lostBytes();
    releaseForSeconds(5);
    assertThat(leak.state().lostBytes()).isEqualTo(lost).isPositive();
  }

  @Test
  void timeSpentOffIsNotMadeUpFor() {
    releaseForSeconds(5);
    leak.turn(true);
    assertThat(leak.forgets(OBJECT)).isFalse();
  }

  @Test
  void theCapIsNeverExceeded() {
    leak.turn(true);
    releaseForSeconds(60);
    assertThat(leak.state().lostBytes()).isBetween(CAP.toBytes() - OBJECT, CAP.toBytes());
  }

  @Test
  void nothingMoreIsLostWhileTheProcessIsFull() {
    leak.turn(true);
    releaseForSeconds(2);
    full.set(true);
    long lost = leak.state().lostBytes();
    releaseForSeconds(5);
    assertThat(leak.state().lostBytes()).isEqualTo(lost).isPositive();
  }

  @Test
  void aProcessIsFullFromASizeOn() {
    assertThat(new ResidentSet(DataSize.ofMegabytes(1), nanoTime::get).isFull()).isTrue();
    assertThat(new ResidentSet(DataSize.ofTerabytes(1), nanoTime::get).isFull()).isFalse();
  }

  /** Asks 100 times a second whether to lose an object, far more often than the rate allows. */
  private void releaseForSeconds(int seconds) {
    for (int release = 0; release < seconds * 100; release++) {
      nanoTime.addAndGet(TimeUnit.MILLISECONDS.toNanos(10));
      leak.forgets(OBJECT);
    }
  }
}
