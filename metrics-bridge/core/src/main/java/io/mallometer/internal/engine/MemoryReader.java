package io.mallometer.internal.engine;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.internal.text.Log;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads the memory of the process from the operating system. Only the poller's thread splits the
 * resident set into its parts, because this takes milliseconds.
 */
final class MemoryReader implements SnapshotReader {

  private final MemorySource source;
  private final NativeLibrary library;
  private final Clock clock;
  private final Log.Once rangesFailure = Log.MALLOMETER.once();
  private volatile ProcessMemory latest = ProcessMemory.unknown();
  private volatile Optional<Long> limit = Optional.empty();

  MemoryReader(MemorySource source, NativeLibrary library, Clock clock) {
    this.source = source;
    this.library = library;
    this.clock = clock;
  }

  @Override
  public String failure() {
    return "The memory breakdown cannot be read; the last reading stays";
  }

  @Override
  public void read(Snapshot soFar) {
    Optional<Long> stated = limit;
    latest =
        source.read(
            () -> library.read(clock.instant()),
            stated.isPresent() ? OptionalLong.of(stated.get()) : OptionalLong.empty(),
            () -> soFar.status().active() ? ranges() : List.of());
  }

  private List<MappedRange> ranges() {
    try {
      return library.mappedRanges();
    } catch (RuntimeException | LinkageError e) {
      rangesFailure.warn("The code that mapped memory cannot be named", e);
      return List.of();
    }
  }

  @Override
  public Snapshot show(Snapshot snapshot) {
    return source.present() ? snapshot.with(latest) : snapshot;
  }

  @Override
  public boolean renew() {
    source.renew();
    return true;
  }

  @Override
  public void configure(Optional<MallometerOptions> options) {
    limit = options.isPresent() ? options.get().find(Setting.LIMIT) : limit;
  }
}
