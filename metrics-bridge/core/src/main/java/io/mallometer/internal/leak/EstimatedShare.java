package io.mallometer.internal.leak;

import io.mallometer.model.Estimate;

/**
 * The share of a call site's objects that have a property, estimated from the samples of which the
 * property is known.
 *
 * @param share the share, from 0 to 1
 * @param variance the variance of the share
 */
record EstimatedShare(double share, double variance) {

  /**
   * Estimates the share from weights.
   *
   * @param some the sum of the weights of the objects with the property
   * @param all the sum of the weights of all objects of which the property is known
   * @param squares the sum of the squares of these weights
   */
  static EstimatedShare of(double some, double all, double squares) {
    double share = all > 0 ? Math.min(1, some / all) : 0;
    double count = all > 0 ? all * all / squares : 0;
    // Adds one object with the property and one without, so that the variance is never 0.
    double doubtful = (share * count + 1) / (count + 2);
    return new EstimatedShare(share, doubtful * (1 - doubtful) / (count + 3));
  }

  Estimate times(Estimate total) {
    return new Estimate(
        share * total.value(),
        share * share * total.variance() + total.value() * total.value() * variance,
        total.samples());
  }
}
