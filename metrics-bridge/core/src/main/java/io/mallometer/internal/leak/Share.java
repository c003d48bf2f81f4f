package io.mallometer.internal.leak;

import io.mallometer.model.Estimate;

/**
 * The share of a call site's objects of which something is true, estimated from the samples for
 * which it is known.
 *
 * @param share 0 to 1
 * @param variance of the share
 */
record Share(double share, double variance) {

  /**
   * Returns the share of some objects of all.
   *
   * @param some the weights of the objects of which it is true, added up
   * @param all the weights of all objects of which it is known
   * @param squares the squares of these weights, added up
   */
  static Share of(double some, double all, double squares) {
    double share = all > 0 ? Math.min(1, some / all) : 0;
    double count = all > 0 ? all * all / squares : 0;
    // One object of each kind is added, so that few samples leave some doubt.
    double doubtful = (share * count + 1) / (count + 2);
    return new Share(share, doubtful * (1 - doubtful) / (count + 3));
  }

  /** Returns the estimate of so large a part of a total. */
  Estimate times(Estimate total) {
    return new Estimate(
        share * total.value(),
        share * share * total.variance() + total.value() * total.value() * variance,
        total.samples());
  }
}
