package io.mallometer.internal.diagnosis;

import static io.mallometer.internal.diagnosis.Situation.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Diagnosis.State;
import io.mallometer.model.ResidentPart;
import java.time.Duration;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a process that warms up is healthy after ten minutes, unless it also leaks. */
@Tag("any-jdk")
class WarmUpTest {

  private static final double A_DAY = Duration.ofDays(1).toSeconds();
  private static final int PROCESSES = 400;

  /** The number of leaking processes that are simulated. */
  private static final int DRAWN = 12;

  /**
   * The correlation between the noise of two successive readings, 15 s apart. With this value,
   * noise lasts about a minute.
   */
  private static final double LASTS = 0.8;

  /** Metaspace and malloc grow by 12 MiB in ten minutes, ever more slowly. */
  @Test
  void anIdleProcessThatStillWarmsUpIsHealthyByMinuteTen() {
    Situation idle = warming(second -> 0);

    assertThat(idle.diagnosis().state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void aSlowLeakBelowTheWarmUpIsNotHealthy() {
    for (double perMinute : new double[] {0.5, 1, 2, 5}) {
      assertThat(warming(second -> perMinute * second / 60).diagnosis().state())
          .as("%.1f MiB/min", perMinute)
          .isNotEqualTo(State.HEALTHY);
    }
  }

  /**
   * The first process only warms up: its metaspace grows ever more slowly. The growth rate at
   * minute 45 would double the process in half a day, but must not be extrapolated. The second
   * process also leaks 20 MiB an hour.
   */
  @Test
  void aLongWarmUpDoublesNothingAndALeakDuringItDoes() {
    assertThat(longWarmUp(0).diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(longWarmUp(20).diagnosis().state()).isEqualTo(State.WATCH);
  }

  private static Situation longWarmUp(double leakPerHour) {
    LongToDoubleFunction warm =
        second -> 10 * Math.log(30 + second) + leakPerHour * Math.max(0, second - 600) / 3_600;
    Situation slow =
        new Situation(Duration.ofMinutes(45), second -> 80 + warm.applyAsDouble(second));
    slow.limit = 2_048;
    slow.parts.put(ResidentPart.METASPACE, second -> 20 + warm.applyAsDouble(second));
    return slow;
  }

  private static Situation warming(LongToDoubleFunction leak) {
    LongToDoubleFunction warm = second -> 2 * Math.log(30 + second);
    Situation idle =
        new Situation(
            Duration.ofMinutes(10),
            second -> 200 + 2 * warm.applyAsDouble(second) + leak.applyAsDouble(second));
    idle.limit = Double.NaN;
    idle.parts.put(ResidentPart.METASPACE, second -> 20 + warm.applyAsDouble(second));
    idle.parts.put(
        ResidentPart.MALLOC_RETAINED,
        second -> 20 + warm.applyAsDouble(second) + leak.applyAsDouble(second));
    return idle;
  }

  /**
   * A process of 200 MiB counts as healthy if its predicted growth in a day is less than 200 MiB.
   * Logarithmic growth is below this bound. Linear growth must not be mistaken for logarithmic
   * growth.
   */
  @Test
  void noiseSeldomMakesALineALogarithm() {
    assertThat(healthy(0.3, minute -> 2 * Math.log(minute))).isGreaterThan(0.4);
    for (double noise : new double[] {0.1, 0.3, 1, 3}) {
      assertThat(healthy(noise, minute -> minute)).as("1 MiB/min").isLessThan(0.03);
      assertThat(healthy(noise, minute -> 2 * minute)).as("2 MiB/min").isLessThan(0.01);
      assertThat(healthy(noise, minute -> 10 * Math.log(minute) + minute)).isLessThan(0.01);
      assertThat(healthy(noise, minute -> minute - 40 * Math.exp(-minute / 2))).isLessThan(0.01);
    }
  }

  @Test
  void noiseNeverMakesALeakHealthy() {
    Random random = new Random(7);
    for (int process = 0; process < DRAWN; process++) {
      double[] noise = new double[61];
      for (int i = 1; i < noise.length; i++) {
        noise[i] = LASTS * noise[i - 1] + Math.sqrt(1 - LASTS * LASTS) * random.nextGaussian();
      }
      LongToDoubleFunction leak = second -> second / 60.0 + noise[(int) (second / 15)];
      HeldDiagnosis held = new HeldDiagnosis(Situation.START);
      for (int second = 150; second <= 900; second += 15) {
        Situation leaks =
            new Situation(Duration.ofSeconds(second), at -> 200 + leak.applyAsDouble(at));
        leaks.limit = Double.NaN;
        leaks.parts.put(ResidentPart.MALLOC_RETAINED, at -> 50 + leak.applyAsDouble(at));
        leaks.live = at -> 0;
        assertThat(held.update(leaks.diagnosis(), second * 1_000_000_000L).state())
            .as("process %d at %d s", process, second)
            .isNotEqualTo(State.HEALTHY);
      }
    }
  }

  /**
   * Returns the share of processes that are healthy at minute 10.
   *
   * @param noise the standard deviation of the noise in MiB
   * @param bytes the memory in MiB at a minute
   */
  private static double healthy(double noise, DoubleUnaryOperator bytes) {
    Random random = new Random(7);
    int healthy = 0;
    for (int process = 0; process < PROCESSES; process++) {
      double[] seconds = new double[33];
      double[] figures = new double[seconds.length];
      double deviation = 0;
      for (int i = 0; i < seconds.length; i++) {
        seconds[i] = 120 + 15.0 * i;
        deviation =
            LASTS * deviation + Math.sqrt(1 - LASTS * LASTS) * noise * random.nextGaussian();
        figures[i] = (bytes.applyAsDouble(2 + i / 4.0) + deviation) * MIB;
      }
      healthy += TotalGrowth.most(seconds, figures, A_DAY) < 200 * MIB ? 1 : 0;
    }
    return healthy / (double) PROCESSES;
  }
}
