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
 * @param liveBytes what is live of the call sites that are wanted, or of the whole process if there
 *     are no call sites
 * @param sites the call sites that are wanted, by number
 * @param bytesByName what is live of them by their names, which several may share
 * @param withoutSite allocations so far for which there was no room among the call sites
 * @param notFollowed allocations so far that could not be followed until they are freed, and count
 *     as freed
 */
record Reading(
    double liveBytes,
    Map<Integer, CallSite> sites,
    Map<String, Double> bytesByName,
    long withoutSite,
    long notFollowed) {

  /** A reading of the whole process, without call sites. */
  static Reading ofProcess(double liveBytes) {
    return new Reading(liveBytes, Map.of(), Map.of(), 0, 0);
  }

  /** A reading of the call sites that are wanted. */
  static Reading of(CallSites read, Predicate<CallSite> wanted) {
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
    return new Reading(
        bytes,
        sites,
        byName,
        read.dropped().getOrDefault("no_site", 0L),
        read.dropped().getOrDefault("not_followed", 0L));
  }

  /** Returns the sites of which more is live than there was, most bytes first. */
  List<Kept> keptSince(Reading earlier) {
    return more(earlier, CallSite::liveBytes, CallSite::liveObjects);
  }

  /** Returns the sites that allocated since, most bytes first. */
  List<Kept> allocatedSince(Reading earlier) {
    return more(earlier, CallSite::allocatedBytes, CallSite::allocatedObjects);
  }

  private List<Kept> more(
      Reading earlier, Function<CallSite, Estimate> bytes, Function<CallSite, Estimate> objects) {
    List<Kept> more = new ArrayList<>();
    for (CallSite site : sites.values()) {
      CallSite before = earlier.sites.get(site.number());
      double added = increase(bytes, site, before);
      // What rounding of estimates leaves is no object.
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
