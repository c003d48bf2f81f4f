package io.mallometer.model;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Options for reading the native library.
 *
 * @param pollInterval time between two polls. At least {@link #SHORTEST_POLL_INTERVAL}; a shorter
 *     one is raised to it
 * @param minimumTrimInterval the least time between two trims; a trim that comes earlier is refused
 * @param recordPath the file in which to record the last hour, so that it is known after the
 *     process was killed; empty for none, unless the environment variable MALLOMETER_BLACKBOX names
 *     one, which holds then
 * @param applicationPackages packages, with all below them, of the application's own classes: the
 *     innermost frame of one of these names a call site. Empty if they are not known
 * @param leaks whether and how leaks are looked for
 * @param limitBytes the largest size that the resident set without pages of files may reach; empty
 *     for the cgroup's limit or else the machine's memory
 * @param applicationVersion the version of the application, such as {@code "2.3.1"}, which metrics
 *     show without control characters and cut to 64. If empty or blank, {@code service.version} of
 *     the environment variable OTEL_RESOURCE_ATTRIBUTES, or else the Implementation-Version of the
 *     jar that {@code java -jar} runs
 * @param owners for how long a search for the Java objects that hold native memory may stop the
 *     program
 */
public record MallometerOptions(
    Duration pollInterval,
    Duration minimumTrimInterval,
    Optional<Path> recordPath,
    List<String> applicationPackages,
    LeakOptions leaks,
    OptionalLong limitBytes,
    Optional<String> applicationVersion,
    OwnerBudget owners) {

  /** Default poll interval: five seconds, three polls within a usual scrape interval of 15 s. */
  public static final Duration DEFAULT_POLL_INTERVAL = Duration.ofSeconds(5);

  /**
   * Shortest time between two polls: ten milliseconds, many times the duration of a poll in a
   * process of some hundred threads.
   */
  public static final Duration SHORTEST_POLL_INTERVAL = Duration.ofMillis(10);

  /** A minute: a trim keeps other threads from allocating for a while. */
  public static final Duration DEFAULT_MINIMUM_TRIM_INTERVAL = Duration.ofMinutes(1);

  public MallometerOptions {
    if (pollInterval.compareTo(SHORTEST_POLL_INTERVAL) < 0) {
      pollInterval = SHORTEST_POLL_INTERVAL;
    }
    applicationPackages = List.copyOf(applicationPackages);
  }

  /** The defaults: a poll every five seconds, a trim a minute, leaks of a service. */
  public static MallometerOptions defaults() {
    return new MallometerOptions(
        DEFAULT_POLL_INTERVAL,
        DEFAULT_MINIMUM_TRIM_INTERVAL,
        Optional.empty(),
        List.of(),
        LeakOptions.defaults(),
        OptionalLong.empty(),
        Optional.empty(),
        OwnerBudget.defaults());
  }

  /** Returns these options with another poll interval. */
  public MallometerOptions withPollInterval(Duration pollInterval) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        recordPath,
        applicationPackages,
        leaks,
        limitBytes,
        applicationVersion,
        owners);
  }

  /** Returns these options with another least time between two trims. */
  public MallometerOptions withMinimumTrimInterval(Duration minimumTrimInterval) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        recordPath,
        applicationPackages,
        leaks,
        limitBytes,
        applicationVersion,
        owners);
  }

  /** Returns these options with a file to record into. */
  public MallometerOptions withRecordPath(Path recordPath) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        Optional.of(recordPath),
        applicationPackages,
        leaks,
        limitBytes,
        applicationVersion,
        owners);
  }

  /** Returns these options with other packages of the application. */
  public MallometerOptions withApplicationPackages(List<String> packages) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        recordPath,
        packages,
        leaks,
        limitBytes,
        applicationVersion,
        owners);
  }

  /** Returns these options with another way to look for leaks. */
  public MallometerOptions withLeaks(LeakOptions leaks) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        recordPath,
        applicationPackages,
        leaks,
        limitBytes,
        applicationVersion,
        owners);
  }

  /** Returns these options with a limit of the resident set. */
  public MallometerOptions withLimitBytes(long limitBytes) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        recordPath,
        applicationPackages,
        leaks,
        OptionalLong.of(limitBytes),
        applicationVersion,
        owners);
  }

  /** Returns these options with a version of the application. */
  public MallometerOptions withApplicationVersion(String applicationVersion) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        recordPath,
        applicationPackages,
        leaks,
        limitBytes,
        Optional.of(applicationVersion),
        owners);
  }

  /** Returns these options with another budget for searches of the Java heap. */
  public MallometerOptions withOwners(OwnerBudget owners) {
    return new MallometerOptions(
        pollInterval,
        minimumTrimInterval,
        recordPath,
        applicationPackages,
        leaks,
        limitBytes,
        applicationVersion,
        owners);
  }
}
