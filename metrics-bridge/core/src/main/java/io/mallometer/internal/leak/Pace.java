package io.mallometer.internal.leak;

/**
 * How fast a site grows, by its live samples of the last minutes.
 *
 * @param bytesPerHour by how much its live bytes rise; 0 if they do not; {@code NaN} if too little
 *     is known
 * @param quietSeconds for how long they have not risen; 0 if they rise, {@code NaN} if too little
 *     is known
 */
record Pace(double bytesPerHour, double quietSeconds) {

  static final Pace UNKNOWN = new Pace(Double.NaN, Double.NaN);

  static Pace growing(double bytesPerHour) {
    return new Pace(bytesPerHour, 0);
  }

  static Pace still(double seconds) {
    return new Pace(0, seconds);
  }
}
