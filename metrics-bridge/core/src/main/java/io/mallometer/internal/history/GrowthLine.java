package io.mallometer.internal.history;

import io.mallometer.internal.text.HumanText;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The growth of a call site within a recording.
 *
 * @param bytes the growth; a lower bound if the first recorded list of sites was full and therefore
 *     may lack the site
 * @param time the time from the first to the last recorded list of sites
 */
record GrowthLine(String site, long bytes, Duration time) {

  private static final long LEAST_BYTES = 1 << 20;

  static Optional<GrowthLine> most(RecordedLife life) {
    List<RecordedText> minutes = life.parts().minutes();
    if (minutes.size() < 2) {
      return Optional.empty();
    }
    RecordedText first = minutes.get(0);
    RecordedText last = minutes.get(minutes.size() - 1);
    Map<String, Long> before = first.text().table("site");
    Duration time = Duration.between(first.time(), last.time());
    return last.text().table("site").entrySet().stream()
        .map(
            site ->
                new GrowthLine(
                    site.getKey(),
                    site.getValue() - before(site.getKey(), before, MemoryLines.most("site")),
                    time))
        .filter(grown -> grown.bytes >= LEAST_BYTES)
        .max(Comparator.comparingLong(GrowthLine::bytes));
  }

  /**
   * Returns the bytes of a site in a list of the largest sites. If the list is full and lacks the
   * site, returns the bytes of the smallest listed site, because the site cannot have had more.
   */
  static long before(String name, Map<String, Long> list, int most) {
    return list.getOrDefault(name, list.size() < most ? 0 : least(list.values()));
  }

  private static long least(Collection<Long> values) {
    return values.stream().mapToLong(Long::longValue).min().orElse(0);
  }

  @Override
  public String toString() {
    return "%s had grown by %s in %s"
        .formatted(HumanText.shortName(site), HumanText.bytes(bytes), HumanText.duration(time));
  }
}
