package io.mallometer.internal.history;

import io.mallometer.internal.history.FallingResolution.Dated;
import io.mallometer.model.CallSite;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Allocation rates of call sites. Each rate is computed over the shortest window with enough
 * samples of the site, or else over the longest known window. In a shorter window, a slow leak
 * could have no sample, and its rate would seem to be 0.
 */
final class SiteRates {

  /**
   * The fewest samples for a rate. The rate is then precise to within 40 %, if each sample stands
   * for an equal number of bytes.
   */
  static final int ENOUGH_SAMPLES = 30;

  private static final List<Duration> WINDOWS =
      List.of(
          Duration.ofSeconds(30),
          Duration.ofMinutes(1),
          Duration.ofMinutes(2),
          Duration.ofMinutes(5),
          Duration.ofMinutes(10),
          Duration.ofMinutes(30),
          Duration.ofHours(1));

  /**
   * A window begins at a stored moment. Moments are not stored at exact intervals, so a window may
   * be shorter than its duration in {@link #WINDOWS} by at most this time.
   */
  private static final Duration EARLY = Duration.ofSeconds(3);

  private final List<Dated<SiteMoment>> youngestFirst = new ArrayList<>();
  private final long now;

  /**
   * Chooses the stored moment at the start of each window.
   *
   * @param moments the stored moments, oldest first
   * @param now the present time, by the clock of {@link Dated#nanos}
   */
  SiteRates(List<Dated<SiteMoment>> moments, long now) {
    this.now = now;
    int at = moments.size() - 1;
    for (Duration window : WINDOWS) {
      while (at > 0 && age(moments.get(at)) < window.minus(EARLY).toNanos()) {
        at--;
      }
      if (at >= 0 && age(moments.get(at)) > 0 && !youngestFirst.contains(moments.get(at))) {
        youngestFirst.add(moments.get(at));
      }
    }
  }

  private long age(Dated<SiteMoment> moment) {
    return now - moment.nanos();
  }

  /**
   * Returns the site with its allocation rate. Most sites have fewer than {@value #ENOUGH_SAMPLES}
   * samples. Their rate is computed over the longest known window, without a look at shorter ones.
   */
  CallSite of(CallSite site) {
    if (youngestFirst.isEmpty() || !Double.isNaN(site.bytesPerSecond())) {
      return site;
    }
    for (int i = 0; i < youngestFirst.size() && site.samples() >= ENOUGH_SAMPLES; i++) {
      SiteMoment then = youngestFirst.get(i).point();
      if (site.samples() - then.samples(site.number()) >= ENOUGH_SAMPLES) {
        double before = then.allocatedBytes(site.number());
        if (!Double.isNaN(before)) {
          return since(youngestFirst.get(i), before, site);
        }
      }
    }
    Dated<SiteMoment> oldest = youngestFirst.get(youngestFirst.size() - 1);
    return since(oldest, SiteMoment.orNone(oldest.point().allocatedBytes(site.number())), site);
  }

  private CallSite since(Dated<SiteMoment> moment, double before, CallSite site) {
    double seconds = age(moment) / 1e9;
    double bytes = site.allocatedBytes().value();
    // SiteMoment stores floats, so both values are compared as floats. As doubles, they might
    // differ even if nothing was allocated.
    double added = (float) bytes == (float) before ? 0 : Math.max(0, bytes - before);
    return site.withRate(added / seconds, seconds);
  }
}
