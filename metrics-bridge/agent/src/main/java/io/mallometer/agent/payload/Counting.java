package io.mallometer.agent.payload;

import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.view.View;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * Whether and how a JVM counts, for the line at its start and for the command line.
 *
 * @param active whether it counts
 * @param sentence how, or why not and what to do
 * @param mode how the library came in; {@code none} unless it counts
 */
public record Counting(boolean active, String sentence, String mode) implements View {

  static Counting of(Snapshot snapshot) {
    return new Counting(snapshot.status().active(), sentence(snapshot), snapshot.self().mode());
  }

  /** The same of what was ended. */
  Counting ended() {
    return new Counting(false, sentence.replaceFirst("^counts", "counted"), mode);
  }

  /**
   * How it counts, or why not and what to do. A program's start waits for it: without formats and
   * lambdas, the first of which takes a JVM 20 ms.
   */
  static String sentence(Snapshot snapshot) {
    SelfReport self = snapshot.self();
    if (!snapshot.status().active()) {
      return snapshot.status().toString();
    }
    if (self.mode().equals(SelfReport.PRELOAD)) {
      return "counts native memory (" + self.allocator() + ")";
    }
    String how = " (" + self.mode() + "; " + self.allocator() + ")";
    return self.attachment().isPresent()
        ? "counts native memory since "
            + (self.since().isPresent() ? time(self.since().get()) : "the attach")
            + how
            + "; "
            + before(snapshot)
            + incomplete(self.attachment().get().gaps())
        : "counts native memory" + how;
  }

  private static String before(Snapshot snapshot) {
    return snapshot.process().isPresent() ? snapshot.process().get().baseline().sentence() : "";
  }

  private static String incomplete(String missed) {
    return missed.isEmpty() ? "" : "; incomplete: " + missed;
  }

  private static String time(Instant instant) {
    LocalDateTime time =
        LocalDateTime.ofInstant(instant.truncatedTo(ChronoUnit.SECONDS), ZoneOffset.UTC);
    return time.toLocalDate() + " " + time.toLocalTime() + " UTC";
  }
}
