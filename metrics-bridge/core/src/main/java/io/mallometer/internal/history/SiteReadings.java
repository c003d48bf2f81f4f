package io.mallometer.internal.history;

import io.mallometer.model.CallSites;
import java.time.Duration;
import java.util.Optional;

/** Readings of the call sites, for code that judges or stores them. */
public interface SiteReadings {

  /** Returns the latest reading if it is younger than a second, else a new one. */
  CallSites callSites();

  /** Makes and returns a new reading, even if the latest is very young. */
  CallSites callSitesNow();

  /**
   * Returns the latest reading. Makes a new one if the latest was dropped, or if it is older than
   * {@code age} and a new one does not cost too much. Only the poller's thread may call this
   * method. That thread drops the reading after the poll, unless a caller has requested sites.
   *
   * @param timeScale the divisor of the pauses between readings
   */
  CallSites notOlderThan(Duration age, double timeScale);

  /**
   * Returns whether {@link #notOlderThan} has a reading, or can make one within the time allowed
   * for readings.
   */
  boolean isAffordable(double timeScale);

  /**
   * Returns the latest reading if it is younger than a second, else a new one. Returns empty if a
   * new one would cost too much. Only the poller's thread may call this method.
   *
   * @param urgent whether the reading must be a new one, at any cost
   */
  Optional<CallSites> toKeep(boolean urgent);
}
