package io.mallometer.internal.engine;

import io.mallometer.internal.history.KeptSites;
import io.mallometer.internal.history.Recorder;
import io.mallometer.internal.history.Thresholds;
import io.mallometer.model.CallSites;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Snapshot;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the call sites of the peak, of when shares of the limit were last crossed upwards, and of
 * when a monitor last saw live bytes cross its size.
 *
 * <p>A peak counts that is 2 % above the kept one. So a process that grows from 10 MiB to 10 GiB
 * has 350 of them in its life, and memory that only swings has none. Each costs one reading of the
 * call sites, unless the poller has just read them; where readings are expensive, a peak waits
 * until {@link CallSiteReader}'s bound allows one. A crossing never waits: the process may be
 * killed soon.
 */
public final class ProfileKeeper {

  private static final double STEP = 1.02;

  private final CallSiteReader reader;
  private final Recorder recorder;
  private final Clock clock;

  /** Guarded by this, as is all below. */
  private final Map<KeptMoment, KeptSites> kept = new EnumMap<>(KeptMoment.class);

  private final Thresholds thresholds = new Thresholds();
  private double peak;

  ProfileKeeper(CallSiteReader reader, Recorder recorder, Clock clock) {
    this.reader = reader;
    this.recorder = recorder;
    this.clock = clock;
  }

  /** Keeps the call sites if this is such a moment. Called by the poller's thread at each poll. */
  public void observe(Snapshot snapshot) {
    Optional<NativeCounters> counted = snapshot.process();
    if (!snapshot.status().active() || counted.isEmpty()) {
      return;
    }
    double share = snapshot.memory().setLimit().usedShare();
    double live = counted.get().liveBytes();
    List<KeptMoment> moments = new ArrayList<>();
    synchronized (this) {
      for (int percent : thresholds.crossedBy(share)) {
        KeptMoment.ofPercent(percent).ifPresent(moments::add);
      }
      if (live > peak * STEP) {
        moments.add(KeptMoment.PEAK);
      }
    }
    if (moments.isEmpty()) {
      return;
    }
    Optional<CallSites> read;
    try {
      read = reader.toKeep(!moments.equals(List.of(KeptMoment.PEAK)));
    } catch (Throwable e) {
      passed(moments, live);
      throw e;
    }
    if (read.isPresent() && !read.get().sites().isEmpty()) {
      keep(moments, live, read.get());
    }
  }

  /** A peak whose call sites cannot be read is not tried again at each poll. */
  private synchronized void passed(List<KeptMoment> moments, double live) {
    if (moments.contains(KeptMoment.PEAK)) {
      peak = live;
    }
  }

  private void keep(List<KeptMoment> moments, double live, CallSites read) {
    KeptSites sites = KeptSites.of(read);
    synchronized (this) {
      moments.forEach(moment -> kept.put(moment, sites));
      passed(moments, live);
    }
    moments.forEach(moment -> recorder.keep(moment, read));
  }

  /** Keeps the call sites as they are now, for a monitor whose size was crossed; returns them. */
  CallSites keepPresent() {
    CallSites read = reader.callSites();
    if (!read.sites().isEmpty()) {
      KeptSites sites = KeptSites.of(read);
      synchronized (this) {
        kept.put(KeptMoment.LIVE_SIZE, sites);
      }
    }
    return read;
  }

  /** The call sites of a moment; none, and why, if there was none. */
  public CallSites at(KeptMoment moment) {
    @Nullable KeptSites sites;
    synchronized (this) {
      sites = kept.get(moment);
    }
    if (sites == null) {
      return CallSites.none(clock.instant(), whyNone(moment));
    }
    return sites.sites(reader.callSites());
  }

  private static String whyNone(KeptMoment moment) {
    return switch (moment) {
      case PEAK -> "no call sites have been stored yet";
      case LIVE_SIZE ->
          "no monitor \"live-size\" has seen its size crossed while call sites were known";
      default ->
          moment.percent()
              + " % of the memory limit was not crossed while call sites were recorded";
    };
  }
}
