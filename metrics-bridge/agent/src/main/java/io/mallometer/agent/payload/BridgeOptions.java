package io.mallometer.agent.payload;

import io.mallometer.model.LeakOptions;
import io.mallometer.model.LeakProfile;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.OwnerBudget;
import io.mallometer.push.PushOptions;
import io.mallometer.view.TimeSpan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the agent's options say of the bridge: what is recorded, how sites are named and judged. */
final class BridgeOptions {

  private static final String OTLP = "otlp.";
  private static final Duration OTLP_INTERVAL = Duration.ofMinutes(1);
  private static final String MONITOR = "monitor.";
  private static final String PUSH = "push.";
  private static final String BYTES = "([1-9]\\d{0,5})[kKmMgGtT]";

  private BridgeOptions() {}

  /**
   * The options that were given, by name; the others have their defaults.
   *
   * @throws IllegalArgumentException if one is not understood
   */
  static MallometerOptions of(Map<String, String> options) {
    MallometerOptions all = MallometerOptions.defaults().withLeaks(leaks(options));
    @Nullable String record = options.get("record");
    all = record == null ? all : all.withRecordPath(Path.of(record));
    @Nullable String limit = options.get("limit");
    all = limit == null ? all : all.withLimitBytes(bytes(limit));
    @Nullable String version = options.get("version");
    all = version == null ? all : all.withApplicationVersion(version);
    all = all.withOwners(owners(options));
    return all.withApplicationPackages(list(options.get("sites.applicationPackages")));
  }

  /**
   * The monitors to start; none unless options name some.
   *
   * @throws IllegalArgumentException if an option is not understood
   */
  static List<MonitorOptions> monitors(Map<String, String> options) {
    List<MonitorOptions> monitors = new ArrayList<>();
    for (Map.Entry<String, String> option : options.entrySet()) {
      if (option.getKey().startsWith(MONITOR)) {
        monitors.add(
            MonitorOptions.of(option.getKey().substring(MONITOR.length()), option.getValue()));
      }
    }
    return monitors;
  }

  /**
   * Where profiles are pushed to; empty if nowhere, and then no class for it is loaded.
   *
   * @throws IllegalArgumentException if an option is not understood
   */
  static Optional<PushOptions> push(Map<String, String> options) {
    Map<String, String> given = new HashMap<>();
    for (Map.Entry<String, String> option : options.entrySet()) {
      if (option.getKey().startsWith(PUSH)) {
        given.put(option.getKey().substring(PUSH.length()), option.getValue());
      }
    }
    if (given.isEmpty()) {
      return Optional.empty();
    }
    @Nullable String interval = given.get("interval");
    return Optional.of(
        PushOptions.of(
            given,
            "java",
            interval == null
                ? Optional.empty()
                : Optional.of(duration(PUSH + "interval", interval))));
  }

  /**
   * Where metrics are pushed to; empty if nowhere.
   *
   * @throws IllegalArgumentException if an option is not understood
   */
  static Optional<OtlpPush.Options> otlp(Map<String, String> options) {
    @Nullable String url = options.get(OTLP + "url");
    if (url == null) {
      return Optional.empty();
    }
    @Nullable String path = options.get(OTLP + "path");
    if (path == null) {
      throw new IllegalArgumentException(
          "otlp.path is missing: set it to the directory with the jars of OpenTelemetry's exporter");
    }
    @Nullable String interval = options.get(OTLP + "interval");
    @Nullable String certificates = options.get(OTLP + "certificates");
    return Optional.of(
        new OtlpPush.Options(
            url,
            Path.of(path),
            interval == null ? OTLP_INTERVAL : duration(OTLP + "interval", interval),
            pairs(OTLP + "headers", options.get(OTLP + "headers")),
            pairs(OTLP + "attributes", options.get(OTLP + "attributes")),
            certificates == null ? null : Path.of(certificates)));
  }

  private static Map<String, String> pairs(String name, @Nullable String text) {
    Map<String, String> pairs = new LinkedHashMap<>();
    for (String each : text == null ? new String[0] : text.split(",")) {
      String[] pair = each.strip().split("=", 2);
      if (pair.length != 2 || pair[0].isEmpty()) {
        throw new IllegalArgumentException(
            "%s has \"%s\", and each must be name=value".formatted(name, each));
      }
      pairs.put(pair[0], pair[1]);
    }
    return pairs;
  }

  /** As for the JVM's own options: {@code 512m}, {@code 2g}. */
  private static long bytes(String text) {
    Matcher matcher = Pattern.compile(BYTES).matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "limit is \"%s\" and must be a number with a unit, such as 512m or 2g".formatted(text));
    }
    int unit = 1 + "kmgt".indexOf(Character.toLowerCase(text.charAt(text.length() - 1)));
    return Long.parseLong(matcher.group(1)) << 10 * unit;
  }

  private static LeakOptions leaks(Map<String, String> options) {
    if (options.getOrDefault("leak.enabled", "true").equals("false")) {
      return LeakOptions.off();
    }
    LeakOptions leaks =
        LeakOptions.defaults().withHealthySites(list(options.get("leak.healthySites")));
    @Nullable String profile = options.get("leak.profile");
    leaks = profile == null ? leaks : leaks.withProfile(profile(profile));
    @Nullable String timeout = options.get("leak.longestTimeout");
    leaks =
        timeout == null
            ? leaks
            : leaks.withLongestTimeout(duration("leak.longestTimeout", timeout));
    @Nullable String file = options.get("leak.healthySitesFile");
    return file == null ? leaks : leaks.withHealthySitesFile(Path.of(file));
  }

  private static LeakProfile profile(String name) {
    return LeakProfile.byId(name)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "leak.profile is \"%s\" and must be one of real-time, interactive, service, batch"
                        .formatted(name)));
  }

  private static OwnerBudget owners(Map<String, String> options) {
    OwnerBudget usual = OwnerBudget.defaults();
    @Nullable String pause = options.get("owners.pause");
    @Nullable String total = options.get("owners.total");
    return new OwnerBudget(
        pause == null ? usual.pause() : duration("owners.pause", pause),
        total == null ? usual.total() : duration("owners.total", total));
  }

  private static Duration duration(String name, String text) {
    return TimeSpan.parse(text)
        .filter(known -> !Character.isDigit(text.charAt(text.length() - 1)))
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s is \"%s\" and must be a number with a unit, such as 90s, 45m or 2h"
                        .formatted(name, text)));
  }

  /** Separated by commas or blanks: commas on the command line separate options. */
  private static List<String> list(@Nullable String text) {
    List<String> names = new ArrayList<>();
    for (String name : text == null ? new String[0] : text.split("[, ]")) {
      if (!name.isEmpty()) {
        names.add(name);
      }
    }
    return names;
  }
}
