package io.mallometer.view;

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
 * A view as JSON that is written once for all who ask within some seconds, so that what it costs
 * does not grow with them. Thread-safe.
 */
final class WrittenOnce {

  private final Clock clock;
  private final long seconds;
  private final Supplier<?> subject;
  private final Supplier<? extends View> view;

  /** Guarded by this, as is all below. Compared by identity. */
  private @Nullable Object of;

  private long writtenAt = Long.MIN_VALUE;
  private Piece piece = Piece.of("");

  /**
   * A view that is written again when it is as old as {@code seconds}, or of another {@code
   * subject}.
   */
  WrittenOnce(Clock clock, long seconds, Supplier<?> subject, Supplier<? extends View> view) {
    this.clock = clock;
    this.seconds = seconds;
    this.subject = subject;
    this.view = view;
  }

  synchronized Piece piece() {
    long now = clock.instant().getEpochSecond();
    Object latest = subject.get();
    // A clock that was set back must not keep what is old.
    if (of != latest || now < writtenAt || now - writtenAt >= seconds) {
      piece = new Piece(written(view.get()));
      of = latest;
      writtenAt = now;
    }
    return piece;
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
