package io.mallometer.internal.engine;

import io.mallometer.internal.process.ApplicationVersion;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import java.util.Optional;

/**
 * Adds the version of the application to snapshots: the version in the options, or else the version
 * that was found in the process.
 */
final class VersionReader implements SnapshotReader {

  private final Optional<String> found;
  private volatile Optional<String> version;

  VersionReader(Optional<String> found) {
    this.found = found;
    this.version = found;
  }

  @Override
  public String failure() {
    return "The application's version cannot be read";
  }

  @Override
  public Snapshot show(Snapshot snapshot) {
    Optional<String> known = version;
    return known.isPresent() ? snapshot.withApplicationVersion(known) : snapshot;
  }

  @Override
  public void configure(Optional<MallometerOptions> options) {
    if (options.isPresent()) {
      Optional<String> stated = options.get().find(Setting.VERSION);
      Optional<String> clean =
          stated.isPresent() ? ApplicationVersion.clean(stated.get()) : Optional.empty();
      version = clean.isPresent() ? clean : found;
    }
  }
}
