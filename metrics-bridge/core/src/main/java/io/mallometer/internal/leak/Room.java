package io.mallometer.internal.leak;

import io.mallometer.model.SiteVerdict.Growth;
import java.time.Instant;
import java.util.Optional;

/**
 * How much memory there may be.
 *
 * @param limitBytes the limit; {@code NaN} without one
 * @param usedBytes what of it is used without what the kernel would reclaim; {@code NaN} if unknown
 */
public record Room(double limitBytes, double usedBytes) {

  /** Nothing is known of a limit. */
  public static final Room UNKNOWN = new Room(Double.NaN, Double.NaN);

  /**
   * What a site holds, and when the limit is reached if it grows on.
   *
   * @param bytes those of its live bytes that the limit is compared with
   * @param stopped since when it has not grown
   */
  Growth growth(double liveBytes, double bytes, double bytesPerHour, Optional<Instant> stopped) {
    double seconds = Math.max(0, limitBytes - usedBytes) / bytesPerHour * 3_600;
    return new Growth(
        liveBytes,
        bytesPerHour,
        bytes / limitBytes,
        bytesPerHour > 0 ? seconds : Double.NaN,
        stopped);
  }
}
