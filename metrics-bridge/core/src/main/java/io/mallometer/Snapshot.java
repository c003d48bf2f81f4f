package io.mallometer;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * One reading of everything, immutable. All faces show the same snapshot until the next poll.
 *
 * @param time when it was read
 * @param status whether mallometer counted at that time
 * @param process what was counted in the whole process since it started; present exactly while the
 *     status is {@link Status#active() active}
 * @param self what mallometer itself is and costs
 */
public record Snapshot(
    Instant time, Status status, Optional<NativeCounters> process, SelfReport self) {

  /** A snapshot of a process whose library cannot be read. */
  public static Snapshot absent(Instant time, Status status) {
    return new Snapshot(time, status, Optional.empty(), SelfReport.absent());
  }

  /** How long ago this was read; zero if the clock was set back since. */
  public Duration age(Clock clock) {
    Duration age = Duration.between(time, clock.instant());
    return age.isNegative() ? Duration.ZERO : age;
  }

  /**
   * The {@link #age} in seconds; {@code NaN} without the library, when nothing was read that could
   * grow old.
   */
  public double ageSeconds(Clock clock) {
    return status.state() == State.UNAVAILABLE ? Double.NaN : age(clock).toNanos() / 1e9;
  }
}
