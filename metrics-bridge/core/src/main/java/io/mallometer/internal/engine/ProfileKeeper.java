package io.mallometer.internal.engine;

import io.mallometer.internal.history.KeptSites;
import io.mallometer.internal.history.LimitShares;
import io.mallometer.internal.history.SiteReadings;
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
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Stores the call sites at the peak of live bytes, when memory exceeds a threshold of its limit,
 * and when live bytes exceed the size of a {@code MonitorOptions.liveSize()} monitor.
 *
 * <p>A peak must exceed the stored one by 2 %, so a process that grows from 10 MiB to 10 GiB has
 * 350 peaks. A peak waits while a reading would be too expensive. A threshold never waits, because
 * the process may be killed soon.
 */
public final class ProfileKeeper implements SnapshotReader {

  private static final double STEP = 1.02;

  private final SiteReadings reader;
  private final BiConsumer<KeptMoment, CallSites> recording;
  private final Clock clock;

  /**
   * The stored call sites by kind of moment, such as the peak of live bytes. Guarded by this, like
   * the fields below.
   */
  private final Map<KeptMoment, KeptSites> kept = new EnumMap<>(KeptMoment.class);

  private final LimitShares thresholds = new LimitShares();
  private double peak;

  ProfileKeeper(SiteReadings reader, BiConsumer<KeptMoment, CallSites> recording, Clock clock) {
    this.reader = reader;
    this.recording = recording;
    this.clock = clock;
  }

  @Override
  public String failure() {
    return "The call sites of the peak, or of an exceeded share of the limit, cannot be stored";
  }

  @Override
  public int firstPoll() {
    return 2;
  }

  @Override
  public void published(Snapshot snapshot) {
    Optional<NativeCounters> counted = snapshot.process();
    if (!snapshot.status().active() || counted.isEmpty()) {
      return;
    }
    double share = snapshot.memory().setLimit().usedShare();
    double live = counted.get().liveBytes();
    List<KeptMoment> moments = new ArrayList<>();
    synchronized (this) {
      for (int percent : thresholds.exceededBy(share)) {
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

  /**
   * Records the live bytes of a peak, so that the next poll does not take the same peak for a new
   * one.
   */
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
    moments.forEach(moment -> recording.accept(moment, read));
  }

  /**
   * Stores and returns the present call sites. Called when live bytes exceed the size of a {@code
   * MonitorOptions.liveSize()} monitor.
   */
  CallSites keepPresent() {
    CallSites read = reader.callSitesNow();
    if (!read.sites().isEmpty()) {
      KeptSites sites = KeptSites.of(read);
      synchronized (this) {
        kept.put(KeptMoment.LIVE_SIZE, sites);
      }
    }
    return read;
  }

  /**
   * Returns the call sites of a moment. If none were stored for the moment, the result has no sites
   * and a reason.
   */
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
          "no monitor \"live-size\" has seen its size exceeded while call sites were known";
      default ->
          moment.percent()
              + " % of the memory limit was not exceeded while call sites were recorded";
    };
  }
}
