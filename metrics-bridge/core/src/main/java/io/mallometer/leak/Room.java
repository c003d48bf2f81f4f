package io.mallometer.leak;

/**
 * How much memory there may be.
 *
 * @param limitBytes the limit; {@code NaN} without one
 * @param usedBytes what of it is used without what the kernel would reclaim; {@code NaN} if unknown
 */
public record Room(double limitBytes, double usedBytes) {

  /** Nothing is known of a limit. */
  public static final Room UNKNOWN = new Room(Double.NaN, Double.NaN);

  /** Bytes as a share of the limit; {@code NaN} without one. */
  double share(double bytes) {
    return bytes / limitBytes;
  }

  /** When the limit is reached, in seconds; {@code NaN} if it never is. */
  double secondsAt(double bytesPerHour) {
    double seconds = Math.max(0, limitBytes - usedBytes) / bytesPerHour * 3_600;
    return bytesPerHour > 0 ? seconds : Double.NaN;
  }
}
