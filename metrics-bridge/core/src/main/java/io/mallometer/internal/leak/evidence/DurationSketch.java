package io.mallometer.internal.leak.evidence;

import java.util.Arrays;

/**
 * A histogram of weighted durations: each bucket has the sum of the weights of its durations.
 * Bucket 0 has durations below 2^-5.5 s, bucket i begins at 2^(i/2 - 6) s, and the last bucket has
 * all longer durations. A quantile is exact to a factor of 1.41. Immutable.
 */
public final class DurationSketch {

  public static final int BUCKETS = 48;

  public static final DurationSketch NONE = new DurationSketch(0, new float[BUCKETS]);

  private final long count;
  private final float[] weights;

  public DurationSketch(long count, float[] weights) {
    if (weights.length != BUCKETS) {
      throw new IllegalArgumentException("a sketch has " + BUCKETS + " buckets");
    }
    this.count = count;
    this.weights = weights.clone();
  }

  public long count() {
    return count;
  }

  public double weight(int bucket) {
    return weights[bucket];
  }

  public double weight() {
    double sum = 0;
    for (float weight : weights) {
      sum += weight;
    }
    return sum;
  }

  /** Returns the shortest duration of a bucket, in seconds. */
  public static double lowerBound(int bucket) {
    return bucket == 0 ? 0 : Math.pow(2, bucket / 2.0 - 6);
  }

  public static int bucket(double seconds) {
    int bucket = seconds > 0 ? (int) Math.floor(2 * (Math.log(seconds) / Math.log(2) + 6)) : 0;
    return Math.max(0, Math.min(BUCKETS - 1, bucket));
  }

  /**
   * Returns a quantile in seconds. Returns 0 for an empty sketch, so that a maximum of several
   * quantiles ignores it.
   */
  public double quantile(double share) {
    double rest = share * weight();
    if (!(rest > 0)) {
      return 0;
    }
    int last = lastBucket();
    int bucket = 0;
    while (bucket < last && weights[bucket] < rest) {
      rest -= weights[bucket];
      bucket++;
    }
    double low = Math.max(lowerBound(bucket), lowerBound(1) / Math.sqrt(2));
    return low * Math.pow(2, 0.5 * Math.min(1, rest / weights[bucket]));
  }

  private int lastBucket() {
    int last = BUCKETS - 1;
    while (last > 0 && weights[last] <= 0) {
      last--;
    }
    return last;
  }

  public DurationSketch plus(DurationSketch other) {
    float[] sum = weights.clone();
    for (int i = 0; i < BUCKETS; i++) {
      sum[i] += other.weights[i];
    }
    return new DurationSketch(count + other.count, sum);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DurationSketch same
        && same.count == count
        && Arrays.equals(same.weights, weights);
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(count) + Arrays.hashCode(weights);
  }

  @Override
  public String toString() {
    return count + " durations, median " + quantile(0.5) + " s";
  }
}
