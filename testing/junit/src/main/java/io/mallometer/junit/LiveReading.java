package io.mallometer.junit;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Native memory at one moment.
 *
 * @param liveBytes the live bytes of the selected call sites; of the process if none were read
 * @param sites the selected call sites by number
 * @param bytesByName the live bytes by the name of the call site, which several sites may share
 * @param withoutSite the allocations so far for which the table of call sites had no room
 * @param notFollowed the allocations so far that the library could not track; they count as freed
 */
record LiveReading(
    double liveBytes,
    Map<Integer, CallSite> sites,
    Map<String, Double> bytesByName,
    long withoutSite,
    long notFollowed) {

  static LiveReading ofProcess(double liveBytes) {
    return new LiveReading(liveBytes, Map.of(), Map.of(), 0, 0);
  }

  static LiveReading of(CallSites read, Predicate<CallSite> wanted) {
    Map<Integer, CallSite> sites = new HashMap<>();
    Map<String, Double> byName = new HashMap<>();
    double bytes = 0;
    for (CallSite site : read.sites()) {
      if (wanted.test(site)) {
        sites.put(site.number(), site);
        bytes += site.liveBytes().value();
        byName.merge(site.name(), site.liveBytes().value(), Double::sum);
      }
    }
    return new LiveReading(
        bytes,
        sites,
        byName,
        read.dropped().getOrDefault("no_site", 0L),
        read.dropped().getOrDefault("not_followed", 0L));
  }

  /** Returns the sites whose live bytes have increased, the largest increase first. */
  List<Kept> keptSince(LiveReading earlier) {
    return more(earlier, CallSite::liveBytes, CallSite::liveObjects);
  }

  List<Kept> allocatedSince(LiveReading earlier) {
    return more(earlier, CallSite::allocatedBytes, CallSite::allocatedObjects);
  }

  private List<Kept> more(
      LiveReading earlier,
      Function<CallSite, Estimate> bytes,
      Function<CallSite, Estimate> objects) {
    List<Kept> more = new ArrayList<>();
    for (CallSite site : sites.values()) {
      CallSite before = earlier.sites.get(site.number());
      double added = increase(bytes, site, before);
      // Smaller differences come from rounding of estimates.
      if (added >= 1) {
        more.add(new Kept(site.frames(), added, increase(objects, site, before)));
      }
    }
    more.sort((one, other) -> Double.compare(other.bytes(), one.bytes()));
    return more;
  }

  private static double increase(
      Function<CallSite, Estimate> figure, CallSite now, @Nullable CallSite before) {
    double value = figure.apply(now).value();
    return before == null ? value : value - figure.apply(before).value();
  }
}
