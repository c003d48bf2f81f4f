package io.mallometer.internal.engine;

import io.mallometer.internal.pool.PoolWatch;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PoolReport;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import java.util.Optional;

/** Reads the memory pools of other libraries. */
final class PoolReader implements SnapshotReader {

  private final PoolWatch watch;

  PoolReader(PoolWatch watch) {
    this.watch = watch;
  }

  @Override
  public String failure() {
    return "The pools of other libraries cannot be read; the last reading stays";
  }

  /**
   * Returns 2, because reading pools would delay the first poll, which provides the first counters.
   */
  @Override
  public int firstPoll() {
    return 2;
  }

  @Override
  public void read(Snapshot soFar) {
    watch.look();
  }

  @Override
  public Snapshot show(Snapshot snapshot) {
    Optional<PoolReport> known = watch.latest();
    return known.isPresent() ? snapshot.withPools(known) : snapshot;
  }

  @Override
  public void configure(Optional<MallometerOptions> options) {
    if (options.isPresent()) {
      watch.nameBy(options.get().get(Setting.APPLICATION_PACKAGES));
      watch.trackNetty(options.get().find(Setting.POOLS_NETTY_SAMPLING_INTERVAL).orElse(0));
    }
  }
}
