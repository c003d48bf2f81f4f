package io.mallometer.model;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Options of the search for leaks.
 *
 * @param enabled whether the use of objects is observed and judged
 * @param profile what kind of program it is
 * @param longestTimeout the longest for which the program leaves an object alone that it still
 *     needs: what is left alone for longer is a leak
 * @param timeScale by what the floor of the profile and all pauses are divided: 1, or more in
 *     tests, which cannot wait for minutes
 * @param healthySites names of acknowledged call sites; one that ends in {@code *} stands for all
 *     names that begin so
 * @param healthySitesFile file for the names that are acknowledged at run time, one a line; empty
 *     if acknowledgements last until the process ends. The file need not exist, its directory must
 */
public record LeakOptions(
    boolean enabled,
    LeakProfile profile,
    Duration longestTimeout,
    double timeScale,
    List<String> healthySites,
    Optional<Path> healthySitesFile) {

  /** Time that timeouts of sessions and connections rarely exceed. */
  public static final Duration DEFAULT_LONGEST_TIMEOUT = Duration.ofMinutes(30);

  /** The largest time scale: at more the system's clocks would be in the way. */
  public static final double LARGEST_TIME_SCALE = 1_000;

  public LeakOptions {
    timeScale = timeScale >= 1 ? Math.min(timeScale, LARGEST_TIME_SCALE) : 1;
    healthySites = List.copyOf(healthySites);
  }

  /** Default: enabled, for a service. */
  public static LeakOptions defaults() {
    return new LeakOptions(
        true, LeakProfile.SERVICE, DEFAULT_LONGEST_TIMEOUT, 1, List.of(), Optional.empty());
  }

  /** No observation: nothing is observed. */
  public static LeakOptions off() {
    return new LeakOptions(
        false, LeakProfile.SERVICE, DEFAULT_LONGEST_TIMEOUT, 1, List.of(), Optional.empty());
  }

  /** Returns these options for another kind of program. */
  public LeakOptions withProfile(LeakProfile profile) {
    return new LeakOptions(
        enabled, profile, longestTimeout, timeScale, healthySites, healthySitesFile);
  }

  /** Returns these options for a program with other timeouts. */
  public LeakOptions withLongestTimeout(Duration timeout) {
    return new LeakOptions(enabled, profile, timeout, timeScale, healthySites, healthySitesFile);
  }

  /** Returns these options with another time scale. */
  public LeakOptions withTimeScale(double scale) {
    return new LeakOptions(enabled, profile, longestTimeout, scale, healthySites, healthySitesFile);
  }

  /** Returns these options with other names of acknowledged sites. */
  public LeakOptions withHealthySites(List<String> names) {
    return new LeakOptions(enabled, profile, longestTimeout, timeScale, names, healthySitesFile);
  }

  /** Returns these options with a file for acknowledgements at run time. */
  public LeakOptions withHealthySitesFile(Path file) {
    return new LeakOptions(
        enabled, profile, longestTimeout, timeScale, healthySites, Optional.of(file));
  }
}
