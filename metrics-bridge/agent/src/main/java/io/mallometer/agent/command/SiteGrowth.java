package io.mallometer.agent.command;

import io.mallometer.internal.text.HumanText;
import io.mallometer.internal.text.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Computes how the live bytes of each call site changed between two readings. Leaves out a site if
 * the readings are too close together: less than a minute apart, or less than five minutes for a
 * site with few samples ({@link GrowthRates#shortest}).
 */
final class SiteGrowth {

  private static final String ALL = "sites?group=site&limit=2000";

  private final Json before;

  private SiteGrowth(Json before) {
    this.before = before;
  }

  static SiteGrowth from(Source source) throws Failure, IOException {
    return new SiteGrowth(source.get(ALL).json());
  }

  /**
   * Takes the second reading and returns the changes since the first, as JSON. The format is that
   * of the view {@code sites} with the parameter {@code from}.
   *
   * @param most the largest number of call sites to return
   */
  String until(Source source, int most) throws Failure, IOException {
    Json after = source.get(ALL).json();
    Map<String, Double> live = new LinkedHashMap<>();
    for (Json site : before.at("groups").list()) {
      live.put(site.at("key").text(), site.at("liveBytes").estimate());
    }
    Duration between = between(before.at("reading", "time"), after.at("reading", "time"));
    List<Map<String, Object>> changes =
        after.at("groups").list().stream()
            .filter(site -> between.compareTo(GrowthRates.shortest(site.at("liveBytes"))) >= 0)
            .map(site -> change(site, live.getOrDefault(site.at("key").text(), 0.0)))
            .filter(change -> !change.get("liveBytesGrowth").equals(0L))
            .sorted(Comparator.comparingLong(SiteGrowth::growth).reversed())
            .toList();
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("from", before.at("reading", "time").text());
    told.put("to", after.at("reading", "time").text());
    if (between.compareTo(GrowthRates.SHORTEST) < 0) {
      told.put(
          "reason",
          "Watched for %s: growth is shown over at least %s"
              .formatted(HumanText.duration(between), HumanText.duration(GrowthRates.SHORTEST)));
    }
    told.put("matching", changes.size());
    told.put("changes", changes.stream().limit(most).toList());
    StringWriter json = new StringWriter();
    JsonWriter.to(json).tree(told);
    return json.toString();
  }

  private static Duration between(Json from, Json to) {
    try {
      return Duration.between(Instant.parse(from.text()), Instant.parse(to.text()));
    } catch (DateTimeException e) {
      return Duration.ZERO;
    }
  }

  private static long growth(Map<String, Object> change) {
    return (Long) change.get("liveBytesGrowth");
  }

  private static Map<String, Object> change(Json site, double before) {
    double after = site.at("liveBytes").estimate();
    Map<String, Object> change = new LinkedHashMap<>();
    change.put("name", site.at("key").text());
    change.put("liveBytesBefore", (long) before);
    change.put("liveBytesAfter", (long) after);
    change.put("liveBytesGrowth", (long) (after - before));
    return change;
  }
}
