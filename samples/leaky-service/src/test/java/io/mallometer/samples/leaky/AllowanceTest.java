package io.mallometer.samples.leaky;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AllowanceTest {
  private final AtomicLong nanoTime = new AtomicLong(42);
  private final Allowance allowance = new Allowance(100, nanoTime::get);

  @Test
  void nothingIsThereAtFirst() {
    assertThat(allowance.spend(1)).isFalse();
  }

  @Test
  void tenSecondsBringTenSecondsWorthWhateverTheAmounts() {
    assertThat(spentInTenSeconds(7)).isBetween(1000.0, 1007.0);
    assertThat(spentInTenSeconds(260)).isBetween(1000.0 - 260, 1000.0 + 260);
  }

  @Test
  void aPauseIsNotMadeUpForBeyondOneSecond() {
    nanoTime.addAndGet(TimeUnit.HOURS.toNanos(1));
    assertThat(spendAll(1)).isEqualTo(100);
  }

  @Test
  void aNewRateHoldsFromNowOn() {
    allowance.rate(10);
    nanoTime.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(spendAll(1)).isEqualTo(10);
  }

  @Test
  void emptyForgetsWhatFlowedIn() {
    nanoTime.addAndGet(TimeUnit.SECONDS.toNanos(1));
    allowance.empty();
    assertThat(allowance.spend(1)).isFalse();
  }

  private double spentInTenSeconds(double amount) {
    double spent = 0;
    for (int tick = 0; tick < 200; tick++) {
      nanoTime.addAndGet(TimeUnit.MILLISECONDS.toNanos(50));
      spent += spendAll(amount);
    }
    return spent;
  }

  private double spendAll(double amount) {
    double spent = 0;
    while (allowance.spend(amount)) {
      spent += amount;
    }
    return spent;
  }
}
