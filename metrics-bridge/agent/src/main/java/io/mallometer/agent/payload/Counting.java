package io.mallometer.agent.payload;

import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.view.View;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * States whether and how a JVM counts native memory. The agent prints this at its start.
 *
 * @param active whether the JVM counts
 * @param sentence how the JVM counts, or why it does not count, and the remedy
 * @param mode how the library came into the process; {@code none} if nothing is counted
 */
public record Counting(boolean active, String sentence, String mode) implements View {

  static Counting of(Snapshot snapshot) {
    return new Counting(snapshot.status().active(), sentence(snapshot), snapshot.self().mode());
  }

  /** Returns the sentence in the past tense, for counting that was ended. */
  Counting ended() {
    return new Counting(false, sentence.replaceFirst("^counts", "counted"), mode);
  }

  /**
   * Returns how native memory is counted; or why it is not counted, and the remedy. Every start of
   * the agent calls this method, so it avoids String.format and lambdas, whose first use takes 20
   * ms each.
   */
  static String sentence(Snapshot snapshot) {
    SelfReport self = snapshot.self();
    if (!snapshot.status().active()) {
      return snapshot.status().toString();
    }
    if (self.mode().equals(SelfReport.PRELOADED)) {
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
