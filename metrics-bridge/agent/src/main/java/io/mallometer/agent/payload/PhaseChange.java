package io.mallometer.agent.payload;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.Phase;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.SizeDistribution;
import io.mallometer.view.View;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * The end of a phase and the beginning of the next, for the command line.
 *
 * @param sentence the counts of the phase that ended, and the name of the one that began
 */
public record PhaseChange(String sentence) implements View {

  static PhaseChange of(Optional<Phase> ended, String begun) {
    String end = ended.map(PhaseChange::sentence).orElse("no phase had begun");
    return new PhaseChange(begun.isEmpty() ? end : end + "\nphase " + begun + " begins");
  }

  private static String sentence(Phase phase) {
    double seconds = Duration.between(phase.begin(), phase.end()).toMillis() / 1e3;
    String counted =
        phase
            .figures()
            .counts()
            .map(PhaseChange::sentence)
            .orElse("nothing was counted: " + phase.figures().reason());
    return String.format(
        Locale.ROOT,
        "phase %s, %.1f s: %s%s",
        phase.name(),
        seconds,
        counted,
        phase.returnedSizes().map(PhaseChange::sizes).orElse(""));
  }

  private static String sizes(SizeDistribution returned) {
    StringBuilder text = new StringBuilder("\nallocations by returned size:");
    for (int i = 0; i < SizeDistribution.CLASSES; i++) {
      if (returned.count(i) != 0) {
        double most = SizeDistribution.upperBound(i);
        String limit = Double.isInfinite(most) ? "more" : "up to " + HumanText.bytes(most);
        text.append(String.format(Locale.ROOT, "\n  %s: %,d", limit, returned.count(i)));
      }
    }
    return text.toString();
  }

  private static String sentence(ScopeCounts counts) {
    return String.format(
        Locale.ROOT,
        "%,d allocations of %s requested, %,d frees, %s live, peak %s above the value at the"
            + " beginning",
        counts.calls(),
        HumanText.bytes(counts.requestedBytes()),
        counts.frees(),
        HumanText.change(counts.netBytes()),
        HumanText.bytes(counts.peakBytes()));
  }
}
