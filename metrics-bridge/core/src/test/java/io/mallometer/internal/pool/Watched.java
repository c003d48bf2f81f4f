package io.mallometer.internal.pool;

import io.mallometer.internal.history.SiteReadings;
import io.mallometer.internal.library.FakeLibrary;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PoolReport.Pool;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Watches the Netty pools of given class loaders, at times that the test sets. */
final class Watched implements SiteReadings {

  private final List<NettyLoader> loaders = new ArrayList<>();
  private final List<CallSite> sites = new ArrayList<>();
  private long now = TimeUnit.HOURS.toNanos(1);
  private int looks;
  private long cpu;
  private long cpuStep;
  private int siteReadings;
  private boolean affordable = true;
  private final PoolWatch watch;

  Watched(NettyLoader... all) {
    loaders.addAll(List.of(all));
    FakeLibrary library =
        new FakeLibrary(
            new NativeCounters(
                SizeDistribution.of(sizeClass -> 0), 0, 0, 0, 0, 0, 0, 0, Double.NaN, 0, 1, true),
            SelfReport.absent()) {
          @Override
          public Optional<List<Class<?>>> initializedClasses(List<String> endings) {
            looks++;
            return Optional.of(
                loaders.stream().flatMap(one -> one.loaded(endings).stream()).toList());
          }
        };
    watch = new PoolWatch(library, this, library.clock(), () -> now, () -> cpu += cpuStep);
    watch.nameBy(List.of("io.mallometer.internal.pool"));
  }

  void add(NettyLoader loader) {
    loaders.add(loader);
  }

  void forgetLoaders() {
    loaders.clear();
  }

  void add(CallSite site) {
    sites.add(site);
  }

  Optional<PoolReport> lookAfter(Duration time) {
    now += time.toNanos();
    watch.look();
    return watch.latest();
  }

  Pool pool() {
    List<Pool> pools = lookAfter(Duration.ofMinutes(1)).orElseThrow().pools();
    if (pools.size() != 1) {
      throw new AssertionError(pools.toString());
    }
    return pools.get(0);
  }

  void slow(Duration step) {
    cpuStep = step.toNanos();
  }

  void affordable(boolean little) {
    affordable = little;
  }

  int siteReadings() {
    return siteReadings;
  }

  int looks() {
    return looks;
  }

  PoolWatch watch() {
    return watch;
  }

  @Override
  public CallSites callSites() {
    return notOlderThan(Duration.ZERO, 1);
  }

  @Override
  public CallSites callSitesNow() {
    return callSites();
  }

  @Override
  public CallSites notOlderThan(Duration age, double timeScale) {
    siteReadings++;
    return new CallSites(
        Instant.EPOCH, sites, 0, Map.of(), io.mallometer.model.ByteUnit.UNKNOWN, "");
  }

  @Override
  public boolean isAffordable(double timeScale) {
    return affordable;
  }

  @Override
  public Optional<CallSites> toKeep(boolean urgent) {
    return Optional.of(callSites());
  }
}
