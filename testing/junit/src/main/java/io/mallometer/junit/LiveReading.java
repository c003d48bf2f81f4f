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

record LiveReading(
    double liveBytes,
    Map<Integer, CallSite> sites,
    Map<String, Double> bytesByName,
    long withoutSite,
    long notFollowed) {

  static LiveReading ofProcess(double liveBytes) {
    return new LiveReading(liveBytes, Map.of(), Map.of(), 0, 0);
  }

  /** Returns a reading of the selected call sites. */
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

  List<Kept> keptSince(LiveReading earlier) {
    return more(earlier, CallSite::liveBytes, CallSite::liveObjects);
  }

  /** Returns the sites that have allocated since the earlier reading, the most bytes first. */
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
      // Monitors the native memory of a test while it runs, and publishes a report entry {@code
      // native memory} of the test. <pre>{@code @Test @MonitorNative(threshold = 200 << 20) //
      // fails, with the stack, at a larger request void imports() { importer.read(file); } }</pre>
      // <p>Each report has peak, calls, bytes, frees, net bytes and the largest request; the
      // elements below add monitors. If other annotations run the method several times, the report
      // covers all runs. A test that exceeds a limit still runs to its end. <p>If tests run in
      // parallel and the class is not {@code @Isolated}, only the thread of the test is monitored,
      // as with {@link Of#TEST}, and {@link #liveSize()} is refused. On a virtual thread {@link
      // Of#TEST} fails with the reason.
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
