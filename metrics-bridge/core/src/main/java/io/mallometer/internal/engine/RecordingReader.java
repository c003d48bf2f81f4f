package io.mallometer.internal.engine;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.history.Recorder;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Begins the recording (the file that survives a kill), reads the leaks that earlier runs recorded,
 * and records each snapshot.
 */
final class RecordingReader implements SnapshotReader {

  private final Recorder recorder;
  private final BooleanSupplier measures;
  private final Consumer<List<KnownLeak>> earlierLeaks;
  private final Supplier<List<KnownLeak>> leaks;

  RecordingReader(
      Recorder recorder,
      BooleanSupplier measures,
      Consumer<List<KnownLeak>> earlierLeaks,
      Supplier<List<KnownLeak>> leaks) {
    this.recorder = recorder;
    this.measures = measures;
    this.earlierLeaks = earlierLeaks;
    this.leaks = leaks;
  }

  @Override
  public String failure() {
    return "The recording cannot be continued";
  }

  @Override
  public void read(Snapshot soFar) {
    recorder.begin();
    earlierLeaks.accept(recorder.takeKnownLeaks());
  }

  @Override
  public boolean isUrgent(Snapshot published) {
    return recorder.exceeds(published);
  }

  @Override
  public void published(Snapshot snapshot) {
    recorder.observe(snapshot, leaks.get());
  }

  @Override
  public boolean isAsked() {
    return recorder.askedAnew();
  }

  @Override
  public void configure(Optional<MallometerOptions> options) {
    Optional<Path> path =
        options.isPresent() ? options.get().find(Setting.RECORDING) : Optional.empty();
    if (path.isPresent()) {
      recorder.want(path.get());
    }
    if (options.isPresent() && !measures.getAsBoolean()) {
      recorder.refuse("mallometer measures nothing on this system");
    }
  }

  @Override
  public void suspend() {
    recorder.close();
  }

  @Override
  public void end() {
    recorder.close();
  }
}
