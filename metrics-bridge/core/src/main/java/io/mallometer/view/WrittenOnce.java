package io.mallometer.view;

import io.mallometer.Snapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A view as JSON that is written once however many people ask for it: until the next snapshot, and
 * at most for a second, so that the age in it stays true. Thread-safe.
 */
final class WrittenOnce {

  private final Clock clock;
  private final Supplier<? extends View> view;

  /** Guarded by this, as is all below. Compared by identity. */
  private @Nullable Snapshot of;

  private long second;
  private byte[] bytes = {};

  WrittenOnce(Clock clock, Supplier<? extends View> view) {
    this.clock = clock;
    this.view = view;
  }

  /** Not to be changed. */
  synchronized byte[] bytes(Snapshot latest) {
    long now = clock.instant().getEpochSecond();
    if (of != latest || second != now) {
      bytes = written(view.get());
      of = latest;
      second = now;
    }
    return bytes;
  }

  private static byte[] written(View view) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8)) {
      view.write(writer);
    } catch (IOException e) {
      throw new UncheckedIOException("memory takes all that is written to it", e);
    }
    return out.toByteArray();
  }
}
