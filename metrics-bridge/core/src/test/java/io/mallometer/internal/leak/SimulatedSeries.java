package io.mallometer.internal.leak;

import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ToIntFunction;

/**
 * Simulates series of live bytes, and measures for how many of 1,000 series a statistical test
 * finds growth. A seed makes the series repeatable.
 */
public final class SimulatedSeries {

  public static final int RUNS = 1_000;

  private final Random random;

  SimulatedSeries(Random random) {
    this.random = random;
  }

  public DoubleUnaryOperator warmingUp() {
    double pace = between(0.05, 0.25);
    return time -> 0.5 + 0.5 * (1 - Math.exp(-time / pace));
  }

  /** Returns the memory of a pool that is repeatedly filled and half emptied. */
  public DoubleUnaryOperator sawtooth(double longest) {
    double period = between(0.05, longest);
    double phase = random.nextDouble();
    return time -> 0.5 + 0.5 * ((time / period + phase) % 1);
  }

  public DoubleUnaryOperator tables(int count) {
    double[] times = random.doubles(count).toArray();
    return time -> 0.5 + 0.5 * Arrays.stream(times).filter(one -> one <= time).count() / count;
  }

  private double between(double low, double high) {
    return low + (high - low) * random.nextDouble();
  }

  /**
   * Returns noise with the mean 0 and the standard deviation 1.
   *
   * @param memory the time constant of the noise, as a share of the whole time; 0 for white noise
   */
  public double[] noise(int points, double memory) {
    double kept = memory > 0 ? Math.exp(-1 / (memory * (points - 1))) : 0;
    double[] noise = new double[points];
    double deviation = random.nextGaussian();
    for (int i = 0; i < points; i++) {
      noise[i] = deviation;
      deviation = kept * deviation + Math.sqrt(1 - kept * kept) * random.nextGaussian();
    }
    return noise;
  }

  /** Returns a series of this shape with noise. It is never below 0. */
  public double[] noisy(int points, DoubleUnaryOperator shape, double deviation, double memory) {
    double[] series = noise(points, memory);
    for (int i = 0; i < points; i++) {
      double time = i / (points - 1.0);
      series[i] = Math.max(0, shape.applyAsDouble(time) + deviation * series[i]);
    }
    return series;
  }

  public static double share(String name, ToIntFunction<SimulatedSeries> saidOfAll) {
    double share = saidOfAll.applyAsInt(new SimulatedSeries(new Random(5))) / (double) RUNS;
    System.out.printf(Locale.ROOT, "said to grow, of %s: %.3f%n", name, share);
    return share;
  }
}
