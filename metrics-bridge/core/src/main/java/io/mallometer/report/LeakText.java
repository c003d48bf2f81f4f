package io.mallometer.report;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.Estimate;
import io.mallometer.model.LastUse;
import io.mallometer.model.LeakReport;
import io.mallometer.model.Observation;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Writes verdicts as text. Each verdict has a sentence, its evidence and its stacks. */
final class LeakText implements LeakFormat.Writing {

  @Override
  public void write(LeakReport leaks, boolean all, Appendable out) throws IOException {
    line(out, headline(leaks));
    for (String result : results(leaks)) {
      line(out, result);
    }
    List<SiteVerdict> shown = all ? leaks.sites() : leaks.suspicious();
    if (shown.isEmpty()) {
      line(out, "No call site has the verdict leak, unused, growing, waits_for_gc or pool.");
    }
    for (SiteVerdict verdict : shown) {
      line(out, "");
      line(out, "%-8s %s".formatted(verdict.verdict().tag(), verdict.sentence()));
      for (String fact : facts(verdict)) {
        line(out, "         " + fact);
      }
      for (StackFrame frame : verdict.site().frames()) {
        line(out, "           " + frame);
      }
      for (SiteVerdict.Stack other : verdict.site().others()) {
        line(out, "         " + heading(other));
        for (StackFrame frame : other.frames()) {
          line(out, "           " + frame);
        }
      }
    }
  }

  static String heading(SiteVerdict.Stack stack) {
    return "site %d holds %s, allocated by"
        .formatted(stack.number(), HumanText.bytes(stack.liveBytes()));
  }

  static String headline(LeakReport leaks) {
    Observation observation = leaks.observation();
    String reason = observation.reason();
    String seen =
        observation.hasSeen()
            ? "%d epochs of observation".formatted(observation.period().epochs())
                + (reason.isEmpty() ? "" : "; " + reason)
            : "accesses to objects are not observed: " + (reason.isEmpty() ? "not yet" : reason);
    return "Leaks at %s; %s".formatted(shown(leaks.time()), seen);
  }

  static List<String> results(LeakReport leaks) {
    List<String> results = new ArrayList<>();
    if (leaks.observation().hasSeen()) {
      results.add("Lost memory: " + leaks.observation().lostMemory());
    }
    if (!leaks.garbageReason().isEmpty()) {
      results.add("Memory that waits for a garbage collection: " + leaks.garbageReason());
    }
    return results;
  }

  /** Returns facts that are not in the sentence of the verdict. */
  static List<String> facts(SiteVerdict verdict) {
    List<String> facts = new ArrayList<>();
    facts.add(
        "%s%s since %s, evidence: %s%s"
            .formatted(
                verdict.verdict().tag(),
                known(verdict.grounds().confidence(), " (confidence %.2f)"),
                shown(verdict.since()),
                verdict.grounds().evidence().tag(),
                verdict.acknowledged() ? "; acknowledged" : ""));
    Estimate bytes = verdict.suspected().bytes();
    if (bytes.value() > 0) {
      facts.add(
          String.format(
              Locale.ROOT,
              "suspected %s (%s) of %s live",
              HumanText.bytes(bytes.value()),
              HumanText.interval(bytes.value(), bytes.low(), bytes.high()),
              HumanText.bytes(verdict.growth().liveBytes())));
    }
    facts.add("last access " + words(verdict.grounds().lastAccess()));
    facts.add("last write " + words(verdict.grounds().lastWrite()));
    facts.add(
        "site %d of %s%s, allocated by"
            .formatted(
                verdict.site().number(),
                verdict.site().library(),
                verdict.site().stacks() > 1
                    ? " and %d more stacks".formatted(verdict.site().stacks() - 1)
                    : ""));
    return facts;
  }

  private static Instant shown(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS);
  }

  private static String known(double value, String format) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : "";
  }

  private static String words(LastUse use) {
    return use.time().isEmpty()
        ? "not available: " + use.unavailable()
        : "%s by %s at %s".formatted(shown(use.time().get()), use.thread(), where(use.frames()));
  }

  private static String where(List<StackFrame> frames) {
    if (frames.isEmpty()) {
      return "?";
    }
    StackFrame innermost = frames.get(0);
    return frames.stream()
        .filter(frame -> frame.kind() != StackFrame.Kind.NATIVE)
        .findFirst()
        .filter(java -> java != innermost)
        .map(java -> "%s, from %s".formatted(innermost, java))
        .orElseGet(innermost::toString);
  }

  /** Writes a line without control characters, which a terminal would interpret. */
  private static void line(Appendable out, String text) throws IOException {
    out.append(text.replaceAll("[\\p{Cc}\\p{Cf}]", "?").stripTrailing()).append('\n');
  }
}
