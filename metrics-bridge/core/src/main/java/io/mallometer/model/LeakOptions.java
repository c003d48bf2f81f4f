package io.mallometer.model;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Whether and how leaks are looked for.
 *
 * @param enabled whether the use of objects is observed and judged
 * @param profile what kind of program it is
 * @param longestTimeout the longest for which the program leaves an object alone that it still
 *     needs: what is left alone for longer is a leak
 * @param timeScale by what the floor of the profile and all pauses are divided: 1, or more in
 *     tests, which cannot wait for minutes
 * @param healthySites names of call sites that are known to be fine; one that ends in {@code *} is
 *     the beginning of a name
 * @param healthySitesFile where the names are kept of which somebody says at run time that they are
 *     fine, one a line; empty if that holds until the process ends. The file need not exist, its
 *     directory must
 */
public record LeakOptions(
    boolean enabled,
    LeakProfile profile,
    Duration longestTimeout,
    double timeScale,
    List<String> healthySites,
    Optional<Path> healthySitesFile) {

  /** For which sessions and connections rarely wait longer. */
  public static final Duration DEFAULT_LONGEST_TIMEOUT = Duration.ofMinutes(30);

  /** The largest time scale: at more the system's clocks would be in the way. */
  public static final double LARGEST_TIME_SCALE = 1_000;

  public LeakOptions {
    timeScale = timeScale >= 1 ? Math.min(timeScale, LARGEST_TIME_SCALE) : 1;
    healthySites = List.copyOf(healthySites);
  }

  /** Enabled, for a service. */
  public static LeakOptions defaults() {
    return new LeakOptions(
        true, LeakProfile.SERVICE, DEFAULT_LONGEST_TIMEOUT, 1, List.of(), Optional.empty());
  }

  /** Nothing is observed. */
  public static LeakOptions off() {
    return new LeakOptions(
        false, LeakProfile.SERVICE, DEFAULT_LONGEST_TIMEOUT, 1, List.of(), Optional.empty());
  }

  /** These options for another kind of program. */
  public LeakOptions withProfile(LeakProfile profile) {
    return new LeakOptions(
        enabled, profile, longestTimeout, timeScale, healthySites, healthySitesFile);
  }

  /** These options for a program with other timeouts. */
  public LeakOptions withLongestTimeout(Duration timeout) {
    return new LeakOptions(enabled, profile, timeout, timeScale, healthySites, healthySitesFile);
  }

  /** These options with another time scale. */
  public LeakOptions withTimeScale(double scale) {
    return new LeakOptions(enabled, profile, longestTimeout, scale, healthySites, healthySitesFile);
  }

  /** These options with other names of sites that are fine. */
  public LeakOptions withHealthySites(List<String> names) {
    return new LeakOptions(enabled, profile, longestTimeout, timeScale, names, healthySitesFile);
  }

  /** These options with a file for what is said at run time. */
  public LeakOptions withHealthySitesFile(Path file) {
    return new LeakOptions(
        enabled, profile, longestTimeout, timeScale, healthySites, Optional.of(file));
  }
}
