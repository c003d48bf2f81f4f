package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.LeakOptions;
import io.mallometer.model.LeakProfile;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.OwnerBudget;
import io.mallometer.push.PushOptions;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.StringUtils;
import org.springframework.util.unit.DataSize;

/**
 * Properties of the application's configuration, except {@code mallometer.enabled}: {@link
 * OnEnabledPropertyCondition} reads it.
 *
 * @param pollInterval Time between two readings of the native counters. At least 10ms.
 * @param limit Largest size that the resident set without pages of files may reach, such as 512MB.
 *     By default the limit of the memory cgroup, or else the memory of the machine.
 * @param record Recording of the last hour in a file that outlives the process.
 * @param metrics Metrics.
 * @param jmx JMX.
 * @param jfr Java Flight Recorder.
 * @param trim Trimming the allocator.
 * @param owners Searching the Java heap for the objects that hold native memory.
 * @param sites Call sites.
 * @param leak Looking for leaks.
 * @param monitor Monitors: what is logged, notified and recorded when it happens.
 * @param scopes Native memory by HTTP route, scheduled task and method.
 * @param push Sending profiles to a profile store.
 */
@ConfigurationProperties("mallometer")
public record MallometerProperties(
    @DefaultValue("5s") Duration pollInterval,
    @Nullable DataSize limit,
    @DefaultValue Recording record,
    @DefaultValue Metrics metrics,
    @DefaultValue Jmx jmx,
    @DefaultValue Jfr jfr,
    @DefaultValue Trim trim,
    @DefaultValue Owners owners,
    @DefaultValue Sites sites,
    @DefaultValue Leak leak,
    @DefaultValue Monitor monitor,
    @DefaultValue Scopes scopes,
    @DefaultValue Push push) {

  private static final int MOST_SCOPES = 80;
  private static final Duration SHORTEST_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration SHORTEST_TRIM_INTERVAL = Duration.ofSeconds(1);

  /**
   * Recording of the last hour in a file that outlives the process.
   *
   * @param path File of 2 MiB in which to record the last hour, the recording, which survives a
   *     kill. Put it on a volume that survives the container. The environment variable
   *     MALLOMETER_BLACKBOX does the same from the start of the process, and takes precedence.
   */
  public record Recording(@Nullable String path) {}

  /**
   * Metrics.
   *
   * @param enabled Whether to publish native memory as Micrometer meters and, in Prometheus, as a
   *     histogram of request sizes.
   */
  public record Metrics(@DefaultValue("true") boolean enabled) {}

  /**
   * JMX.
   *
   * @param enabled Whether to register the MBeans io.mallometer:type=NativeMemory,
   *     io.mallometer:type=Allocator, io.mallometer:type=CallSites and
   *     io.mallometer:type=LeakDetector in the platform's MBean server.
   */
  public record Jmx(@DefaultValue("true") boolean enabled) {}

  /**
   * Java Flight Recorder.
   *
   * @param enabled Whether to put the events io.mallometer.NativeMemory, io.mallometer.CallSite and
   *     io.mallometer.Monitor into recordings, whose settings can still switch them off.
   */
  public record Jfr(@DefaultValue("true") boolean enabled) {}

  /**
   * Call sites.
   *
   * @param applicationPackages Packages, with all below them, of the application's own classes. The
   *     innermost frame of one of these names a call site. By default those that Spring Boot scans
   *     for the application's components.
   */
  public record Sites(@Nullable List<String> applicationPackages) {}

  /**
   * Search for leaks.
   *
   * @param enabled Whether to observe accesses to sampled objects and to judge which call sites
   *     leak. The environment variable MALLOMETER_LEAKS=off stops the native library from
   *     observing.
   * @param profile Kind of program. It decides after which idle time an object can be suspected: 30
   *     s, 2 min, 5 min or 30 min for real-time, interactive, service and batch.
   * @param longestTimeout Longest time for which the program does not access an object that it
   *     still needs, such as the timeout of its sessions. An object that is not accessed for five
   *     minutes longer is evidence of a leak.
   * @param timeScale Divisor of that time and of all pauses, from 1 to 1000. For tests, which
   *     cannot wait for minutes.
   * @param healthySites Names of acknowledged call sites, which a person said are fine. They get a
   *     verdict, but no meter, notification or warning. A name that ends in * stands for all names
   *     that begin so.
   * @param healthySitesFile File that stores the names of call sites that were acknowledged at run
   *     time. Without it they are forgotten when the process ends.
   */
  public record Leak(
      @DefaultValue("true") boolean enabled,
      @DefaultValue("service") LeakProfile profile,
      @DefaultValue("30m") Duration longestTimeout,
      @DefaultValue("1") double timeScale,
      @Nullable List<String> healthySites,
      @Nullable String healthySitesFile) {}

  /**
   * Monitors: what is logged, notified and recorded when it happens.
   *
   * @param threshold Tells of each request for more native memory than this, with its stack, such
   *     as 200MB: of 64 requests at most between two readings of the counters.
   * @param present Tells when more native memory than this becomes live, with the call sites that
   *     hold most, such as 2GB.
   * @param periodic File to which a row of comma-separated values is written at each reading of the
   *     counters.
   * @param returned Whether to count allocations by the size that the allocator hands out, which
   *     makes each allocation about three times as expensive.
   */
  public record Monitor(
      @Nullable DataSize threshold,
      @Nullable DataSize present,
      @Nullable String periodic,
      @DefaultValue("false") boolean returned) {}

  /**
   * The monitors that are asked for.
   *
   * @throws MallometerPropertyException if a value makes no sense
   */
  List<MonitorOptions> monitors() {
    List<MonitorOptions> monitors = new ArrayList<>();
    if (monitor.threshold() != null) {
      monitors.add(
          MonitorOptions.threshold(bytes("mallometer.monitor.threshold", monitor.threshold())));
    }
    if (monitor.present() != null) {
      monitors.add(MonitorOptions.present(bytes("mallometer.monitor.present", monitor.present())));
    }
    String file = monitor.periodic();
    if (file != null && !file.isBlank()) {
      monitors.add(MonitorOptions.periodic(path("mallometer.monitor.periodic", file)));
    }
    if (monitor.returned()) {
      monitors.add(MonitorOptions.returned());
    }
    return monitors;
  }

  private static long bytes(String property, DataSize size) {
    if (size.toBytes() < 1) {
      throw new MallometerPropertyException(
          property,
          size,
          "must be greater than 0",
          "Write it with a unit, such as 200MB, or remove it to have no such monitor.");
    }
    return size.toBytes();
  }

  /**
   * Native memory by HTTP route, scheduled task and method.
   *
   * @param enabled Whether to publish how much native memory each HTTP route, scheduled task and
   *     method with the annotation NativeScope allocates.
   * @param most Number of routes, tasks and methods that get meters of their own, four series each;
   *     all others share the meters of the scope "other". From 1 to 80.
   */
  public record Scopes(@DefaultValue("false") boolean enabled, @DefaultValue("7") int most) {}

  /** Returns how many scopes get meters of their own. */
  int mostScopes() {
    if (scopes.most() < 1 || scopes.most() > MOST_SCOPES) {
      throw new MallometerPropertyException(
          "mallometer.scopes.most",
          Integer.toString(scopes.most()),
          "must be from 1 to " + MOST_SCOPES,
          "Set mallometer.scopes.most to a number in that range, or remove it to have the default"
              + " of 7.");
    }
    return scopes.most();
  }

  /**
   * Push of profiles to a profile store that cannot scrape this application.
   *
   * @param url Address of a store that speaks Pyroscope's protocol for pushes, such as
   *     https://pyroscope:4040. Without it nothing is sent.
   * @param interval Time between two profiles. At least 1s.
   * @param labels Labels of the profiles, beside service_name and hostname.
   * @param username Name for basic authentication.
   * @param password Password for basic authentication.
   * @param tokenFile File with a bearer token, which is read at each push.
   * @param tenant Tenant, for stores that have several.
   * @param certificates PEM file of the only certificates to trust. By default the JVM's
   *     certificates are trusted.
   */
  public record Push(
      @Nullable String url,
      @DefaultValue("15s") Duration interval,
      @Nullable Map<String, String> labels,
      @Nullable String username,
      @Nullable String password,
      @Nullable String tokenFile,
      @Nullable String tenant,
      @Nullable String certificates) {

    /** Returns the properties as text, without passwords. */
    @Override
    public String toString() {
      return "Push[url=" + (url != null && url.contains("@") ? "..." : url) + "]";
    }
  }

  /**
   * Trims of the allocator, which give free memory back.
   *
   * @param interval Time between two automatic trims. Without it nothing is trimmed automatically.
   *     At least the minimum interval.
   * @param retainedShare An automatic trim is skipped if it would return less than this share of
   *     the resident set, 0 to 1.
   * @param minimumInterval Least time between two trims, whichever way they are requested. An
   *     earlier one is refused.
   */
  public record Trim(
      @Nullable Duration interval,
      @DefaultValue("0.1") double retainedShare,
      @DefaultValue("1m") Duration minimumInterval) {}

  /**
   * Search of the Java heap for the objects that hold native memory, which stops the program.
   *
   * @param pause How long a walk over the heap may stop the program. A search that is estimated to
   *     take longer is refused; 0 forbids all.
   * @param total How long all walks of one search may stop it.
   */
  public record Owners(@DefaultValue("1s") Duration pause, @DefaultValue("5s") Duration total) {}

  /** Whether there is an address: a variable of the environment may be set and empty. */
  boolean pushes() {
    return StringUtils.hasText(push.url());
  }

  /**
   * Where profiles are sent.
   *
   * @param service the name of the application
   * @throws MallometerPropertyException if a value makes no sense
   */
  PushOptions pushOptions(String service) {
    Map<String, String> given = new HashMap<>();
    put(given, "url", push.url());
    put(given, "username", push.username());
    put(given, "password", push.password());
    put(given, "tokenFile", push.tokenFile());
    put(given, "tenant", push.tenant());
    put(given, "certificates", push.certificates());
    try {
      PushOptions options = PushOptions.of(given, service, Optional.of(push.interval()));
      return push.labels() == null ? options : options.withLabels(push.labels());
    } catch (IllegalArgumentException e) {
      throw new MallometerPropertyException(
          "mallometer.push",
          String.valueOf(push),
          "cannot be used: " + e.getMessage(),
          "Correct the property that the reason names.");
    }
  }

  private static void put(Map<String, String> given, String name, @Nullable String value) {
    if (value != null && !value.isEmpty()) {
      given.put(name, value);
    }
  }

  /**
   * The options of the facade.
   *
   * @param scannedPackages those that Spring Boot scans for the application's components
   * @throws MallometerPropertyException if a value makes no sense
   */
  MallometerOptions options(List<String> scannedPackages) {
    long shortest = MallometerOptions.SHORTEST_POLL_INTERVAL.toMillis();
    if (pollInterval.toMillis() < shortest) {
      throw new MallometerPropertyException(
          "mallometer.poll-interval",
          text(pollInterval),
          "must be at least %d ms".formatted(shortest),
          "Set mallometer.poll-interval to some seconds, or remove it to have the default of 5s.");
    }
    if (trim.minimumInterval().isNegative()) {
      throw new MallometerPropertyException(
          "mallometer.trim.minimum-interval",
          text(trim.minimumInterval()),
          "must not be negative",
          "Remove mallometer.trim.minimum-interval to have the default of 1m.");
    }
    if (owners.pause().isNegative() || owners.total().isNegative()) {
      throw new MallometerPropertyException(
          "mallometer.owners",
          text(owners.pause()) + " and " + text(owners.total()),
          "must not be negative",
          "Remove mallometer.owners.pause and mallometer.owners.total to have the defaults of 1s"
              + " and 5s.");
    }
    MallometerOptions options =
        MallometerOptions.defaults()
            .withPollInterval(pollInterval)
            .withMinimumTrimInterval(trim.minimumInterval())
            .withOwners(new OwnerBudget(owners.pause(), owners.total()))
            .withApplicationPackages(applicationPackages(scannedPackages))
            .withLeaks(leaks());
    if (limit != null && limit.toMegabytes() < 1) {
      throw new MallometerPropertyException(
          "mallometer.limit",
          limit,
          "must be at least 1MB",
          "Write it with a unit, such as 512MB, or remove it to have the limit of the cgroup.");
    }
    options = limit == null ? options : options.withLimitBytes(limit.toBytes());
    String path = record.path();
    return path == null || path.isBlank()
        ? options
        : options.withRecordPath(path("mallometer.record.path", path));
  }

  private List<String> applicationPackages(List<String> otherwise) {
    List<String> configured = sites.applicationPackages();
    return configured == null || configured.isEmpty() ? otherwise : configured;
  }

  private LeakOptions leaks() {
    if (!(leak.timeScale() >= 1 && leak.timeScale() <= LeakOptions.LARGEST_TIME_SCALE)) {
      throw new MallometerPropertyException(
          "mallometer.leak.time-scale",
          leak.timeScale(),
          "must be from 1 to 1000",
          "Remove mallometer.leak.time-scale, which is for tests.");
    }
    Duration timeout = leak.longestTimeout();
    if (!timeout.isZero() && timeout.compareTo(SHORTEST_TIMEOUT) < 0) {
      throw new MallometerPropertyException(
          "mallometer.leak.longest-timeout",
          text(timeout),
          "must be 0 or at least 1s",
          "Write it with a unit, such as 90s, 45m or 2h, or remove it to have the default of 30m.");
    }
    List<String> healthy = leak.healthySites();
    String file = leak.healthySitesFile();
    return new LeakOptions(
        leak.enabled(),
        leak.profile(),
        leak.longestTimeout(),
        leak.timeScale(),
        healthy == null ? List.of() : healthy,
        file == null || file.isBlank()
            ? Optional.empty()
            : Optional.of(path("mallometer.leak.healthy-sites-file", file)));
  }

  private static Path path(String property, String path) {
    try {
      return Path.of(path);
    } catch (InvalidPathException e) {
      throw new MallometerPropertyException(
          property,
          path,
          "must be the path of a file",
          "Set %s to a file on a volume that survives the container.".formatted(property));
    }
  }

  /**
   * Starts automatic trims. Null where no interval is set, or an empty one, as for any property.
   *
   * @throws MallometerPropertyException if a value makes no sense
   */
  @Nullable AutomaticTrims automaticTrims(Mallometer mallometer) {
    Duration interval = trim.interval();
    if (interval == null) {
      return null;
    }
    Duration shortest = Collections.max(List.of(trim.minimumInterval(), SHORTEST_TRIM_INTERVAL));
    if (interval.compareTo(shortest) < 0) {
      throw new MallometerPropertyException(
          "mallometer.trim.interval",
          text(interval),
          "must be at least %s, as mallometer.trim.minimum-interval is %s"
              .formatted(text(shortest), text(trim.minimumInterval())),
          "Set mallometer.trim.interval to some minutes, or remove it: nothing is trimmed"
              + " automatically then.");
    }
    if (!(trim.retainedShare() >= 0 && trim.retainedShare() <= 1)) {
      throw new MallometerPropertyException(
          "mallometer.trim.retained-share",
          trim.retainedShare(),
          "must be from 0 to 1",
          "Set mallometer.trim.retained-share to a share of the resident set such as 0.1.");
    }
    return new AutomaticTrims(mallometer, interval, trim.retainedShare());
  }

  private static String text(Duration duration) {
    boolean whole = duration.toMillis() % 1000 == 0;
    return DurationStyle.SIMPLE.print(duration, whole ? ChronoUnit.SECONDS : ChronoUnit.MILLIS);
  }
}
