package io.mallometer.internal.engine;

import io.mallometer.internal.leak.Sentence;
import io.mallometer.model.SiteVerdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What leaks under one name. Often that is several call sites: one compressor is several objects,
 * each allocated by a stack of its own.
 *
 * @param worst the call site that keeps most
 * @param others how many more leak under its name
 * @param bytes suspected bytes of all of them
 * @param growthBytesPerHour what they are suspected of more each hour; {@code NaN} if of none that
 *     is known
 * @param secondsToLimit when the limit is reached if they alone grow on like this; {@code NaN} if
 *     that is not known
 */
record NamedLeak(
    SiteVerdict worst, int others, double bytes, double growthBytesPerHour, double secondsToLimit) {

  /** Of leaking call sites, most bytes first. */
  static List<NamedLeak> of(List<SiteVerdict> leaks) {
    if (leaks.isEmpty()) {
      return List.of();
    }
    Map<String, List<SiteVerdict>> byName = new LinkedHashMap<>();
    for (SiteVerdict leak : leaks) {
      byName.computeIfAbsent(leak.site().name(), name -> new ArrayList<>()).add(leak);
    }
    return byName.values().stream()
        .map(NamedLeak::together)
        .sorted(Comparator.comparingDouble(NamedLeak::bytes).reversed())
        .toList();
  }

  private static NamedLeak together(List<SiteVerdict> leaks) {
    SiteVerdict worst = leaks.get(0);
    double bytes = 0;
    double growth = 0;
    // Each site's time is what is left by its growth, so these shares of an hour add up.
    double perSecond = 0;
    for (SiteVerdict leak : leaks) {
      worst = leak.suspected().bytes().value() > worst.suspected().bytes().value() ? leak : worst;
      bytes += leak.suspected().bytes().value();
      growth += leak.growth().bytesPerHour() > 0 ? leak.growth().bytesPerHour() : 0;
      perSecond += leak.growth().secondsToLimit() > 0 ? 1 / leak.growth().secondsToLimit() : 0;
    }
    return new NamedLeak(
        worst,
        leaks.size() - 1,
        bytes,
        growth > 0 ? growth : Double.NaN,
        perSecond > 0 ? 1 / perSecond : worst.growth().secondsToLimit());
  }

  /** The worst site's, and what they keep together. */
  String sentence() {
    return others == 0
        ? worst.sentence()
        : String.format(
            Locale.ROOT,
            "%s; with %d more stacks of that name %s%s",
            worst.sentence(),
            others,
            Sentence.bytes(bytes),
            Double.isNaN(growthBytesPerHour)
                ? ""
                : ", +%s/h".formatted(Sentence.bytes(growthBytesPerHour)));
  }
}
