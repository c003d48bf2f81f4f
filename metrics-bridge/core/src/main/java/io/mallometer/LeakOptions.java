package io.mallometer;

import java.util.List;

/**
 * Whether and how leaks are looked for.
 *
 * @param enabled whether the use of objects is observed and judged
 * @param profile what kind of program it is
 * @param timeScale by what the floor of the profile and all pauses are divided: 1, or more in
 *     tests, which cannot wait for minutes
 * @param healthySites names of call sites that are known to be fine; one that ends in {@code *} is
 *     the beginning of a name
 */
public record LeakOptions(
    boolean enabled, LeakProfile profile, double timeScale, List<String> healthySites) {

  /** The largest time scale: at more the system's clocks would be in the way. */
  public static final double LARGEST_TIME_SCALE = 1_000;

  public LeakOptions {
    timeScale = timeScale >= 1 ? Math.min(timeScale, LARGEST_TIME_SCALE) : 1;
    healthySites = List.copyOf(healthySites);
  }

  /** Enabled, for a service. */
  public static LeakOptions defaults() {
    return new LeakOptions(true, LeakProfile.SERVICE, 1, List.of());
  }

  /** Nothing is observed. */
  public static LeakOptions off() {
    return new LeakOptions(false, LeakProfile.SERVICE, 1, List.of());
  }

  /** These options with another time scale. */
  public LeakOptions withTimeScale(double scale) {
    return new LeakOptions(enabled, profile, scale, healthySites);
  }

  /** These options with other names of sites that are fine. */
  public LeakOptions withHealthySites(List<String> names) {
    return new LeakOptions(enabled, profile, timeScale, names);
  }
}
