package io.mallometer.internal.history;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.PreviousRun;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Describes how a recorded run ended, as far as that is known.
 *
 * <p>A process that exits writes an exit record. Without this record, the process was killed, it
 * crashed, or the machine stopped. The limit was the reason if the kernel's count of kills rose and
 * memory was near the limit or rose fast. The limit was likely the reason if either the count rose
 * or memory was near the limit. The count alone is no proof, because it includes all processes of
 * the cgroup.
 *
 * @param kind the way in which the run ended
 * @param sentence what happened, without a final full stop
 */
record ExitDiagnosis(Kind kind, String sentence) {

  enum Kind {
    /** A process still writes the file. */
    RUNNING,
    EXITED,
    /** The run has no exit record, but its shutdown had begun. */
    KILLED_IN_SHUTDOWN,
    /**
     * The run has no exit record, the kernel's count of kills rose, and the run's memory was near
     * the limit or rose fast.
     */
    KILLED_BY_LIMIT,
    /**
     * The run has no exit record, and either its memory was near the limit, or the kernel's count
     * of kills rose.
     */
    LIKELY_KILLED_BY_LIMIT,
    /** The run has no exit record, and its memory was far from the limit, or there was no limit. */
    WITHOUT_GOODBYE,
    /** The recording is empty. */
    UNKNOWN
  }

  /**
   * A run without an exit record that used at least this share of the limit was most likely killed
   * because of the limit.
   */
  private static final double NEAR = 0.9;

  private static final String LIMIT = "the limit of ";

  private static final Duration WINDOW = Duration.ofHours(1);

  static ExitDiagnosis of(RecordedLife life, PostMortem aftermath) {
    if (life.empty()) {
      return aftermath.inUse()
          ? new ExitDiagnosis(Kind.RUNNING, "is still running")
          : new ExitDiagnosis(Kind.UNKNOWN, "ended before anything was recorded");
    }
    Sample last = life.last();
    String memory = memory(life);
    if (aftermath.inUse() && life.end().exit().isEmpty()) {
      return new ExitDiagnosis(Kind.RUNNING, "is still running" + at(life, LIMIT) + memory);
    }
    if (life.end().exit().isPresent()) {
      return new ExitDiagnosis(
          Kind.EXITED, exited(life.end().exitCode()) + at(life, LIMIT) + memory);
    }
    if (aftermath.oomKills() > last.cgroup().oomKills()) {
      if (shareOfLimit(life) >= NEAR || rise(life).isPresent()) {
        return killed(Kind.KILLED_BY_LIMIT, life, aftermath, memory);
      }
      if (life.end().shutdown().isEmpty()) {
        return killed(Kind.LIKELY_KILLED_BY_LIMIT, life, aftermath, memory);
      }
    }
    return life.end().shutdown().isPresent()
        ? inShutdown(life, memory)
        : withoutGoodbye(life, aftermath, memory);
  }

  private static String exited(int code) {
    return code == RecordingFormat.STATUS_NOT_TOLD
        ? "ended (status unknown)"
        : "exited with code " + (code & 0xff);
  }

  boolean alarming() {
    return kind != Kind.EXITED && kind != Kind.RUNNING;
  }

  String reason() {
    return switch (kind) {
      case KILLED_BY_LIMIT, LIKELY_KILLED_BY_LIMIT -> PreviousRun.OOM;
      case KILLED_IN_SHUTDOWN, WITHOUT_GOODBYE -> "killed";
      case EXITED -> "exit";
      default -> "unknown";
    };
  }

  /**
   * Returns a short text, such as {@code The previous run was OOM-killed at 14:02 UTC at 99 % of
   * the limit of 512 MiB; ReportArchive.pack had grown by 210 MiB in 40 min}.
   */
  String inShort(RecordedLife life) {
    if (life.empty()) {
      return "The previous run " + sentence;
    }
    String how =
        switch (kind) {
          case RUNNING -> "is still running";
          case KILLED_BY_LIMIT -> "was OOM-killed";
          case LIKELY_KILLED_BY_LIMIT -> "was most likely OOM-killed";
          case EXITED -> "ended";
          default -> "was killed or crashed";
        };
    Optional<GrowthLine> grown = alarming() ? GrowthLine.most(life) : Optional.empty();
    Optional<String> burst = alarming() ? burst(life) : Optional.empty();
    return "The previous run "
        + how
        + " at "
        + (burst.isPresent() ? HumanText.time(end(life)) + " UTC" : HumanText.minute(end(life)))
        + (reason().equals(PreviousRun.OOM) ? nearLimit(life, "") : at(life, ""))
        + burst.map(line -> "; " + line).orElse("")
        + grown.map(most -> "; " + most).orElse("");
  }

  static Instant end(RecordedLife life) {
    Instant last = life.last().time();
    return rise(life).map(FastRise::time).filter(last::isBefore).orElse(last);
  }

  private static Optional<FastRise> rise(RecordedLife life) {
    return life.end().exit().isPresent()
        ? Optional.empty()
        : life.rise().filter(rise -> rise.lastedUntil(life.last().monotonicNanos()));
  }

  private static Optional<String> burst(RecordedLife life) {
    return rise(life).flatMap(rise -> rise.sentence(life.last().monotonicNanos()));
  }

  private static ExitDiagnosis inShutdown(RecordedLife life, String memory) {
    Duration since = Duration.between(life.end().shutdown().orElseThrow(), life.last().time());
    String words =
        since.isNegative() ? "" : ", " + HumanText.duration(since) + " after it had begun,";
    return new ExitDiagnosis(
        Kind.KILLED_IN_SHUTDOWN,
        "was ended during its shutdown"
            + words
            + " without an exit record"
            + at(life, LIMIT)
            + memory);
  }

  /**
   * Describes a kill because of the limit. Called only if the kernel's count of kills has risen.
   */
  private static ExitDiagnosis killed(
      Kind kind, RecordedLife life, PostMortem aftermath, String memory) {
    boolean sure = kind == Kind.KILLED_BY_LIMIT;
    return new ExitDiagnosis(
        kind,
        (sure ? "was OOM-killed at " : "was most likely OOM-killed at ")
            + HumanText.time(end(life))
            + (life.end().shutdown().isPresent() ? " during its shutdown" : "")
            + nearLimit(life, LIMIT)
            + burst(life).map(line -> "; " + line).orElse("")
            + " (the kernel's count of kills rose from "
            + HumanText.number(life.last().cgroup().oomKills())
            + " to "
            + HumanText.number(aftermath.oomKills())
            + (sure ? ")" : "; that may have been another process of the cgroup)")
            + memory);
  }

  private static ExitDiagnosis withoutGoodbye(
      RecordedLife life, PostMortem aftermath, String memory) {
    String story = burst(life).map(line -> "; " + line).orElse("") + memory;
    if (shareOfLimit(life) >= NEAR) {
      return new ExitDiagnosis(
          Kind.LIKELY_KILLED_BY_LIMIT,
          "ended without an exit record"
              + at(life, LIMIT)
              + ", so it was most likely killed for exceeding it"
              + story);
    }
    String cause =
        aftermath.machineRestarted()
            ? " (the machine was restarted, or this is another machine)"
            : " (kill -9, a crash, or the machine)";
    return new ExitDiagnosis(
        Kind.WITHOUT_GOODBYE, "ended without an exit record" + at(life, LIMIT) + cause + story);
  }

  private static double shareOfLimit(RecordedLife life) {
    double last = life.last().cgroup().shareOfLimit();
    double risen =
        rise(life)
            .filter(rise -> rise.monotonicNanos() > life.last().monotonicNanos())
            .map(rise -> rise.shareOfLimit(fileBytes(life)))
            .orElse(Double.NaN);
    return Double.isNaN(risen) || risen < last ? last : risen;
  }

  /** Returns the latest known bytes of cached files, which the kernel drops first; 0 if unknown. */
  private static double fileBytes(RecordedLife life) {
    return life.samples().stream()
        .mapToDouble(sample -> sample.cgroup().fileBytes())
        .filter(bytes -> !Double.isNaN(bytes))
        .reduce(0, (before, after) -> after);
  }

  /**
   * Returns the used share of the limit as text, or an empty text below {@link #NEAR}. A low share
   * would mislead, because memory may have risen after the last record.
   */
  private static String nearLimit(RecordedLife life, String limit) {
    return shareOfLimit(life) >= NEAR ? at(life, limit) : "";
  }

  private static String at(RecordedLife life, String limit) {
    double share = shareOfLimit(life);
    return Double.isNaN(share)
        ? ""
        : " at "
            + HumanText.share(share)
            + " of "
            + limit
            + HumanText.bytes(life.last().cgroup().limitBytes());
  }

  private static String memory(RecordedLife life) {
    String live = growth("malloc live", life, sample -> sample.malloc().liveBytes());
    String resident = growth("resident", life, Sample::residentBytes);
    return live + resident;
  }

  private static String growth(String name, RecordedLife life, ToDoubleFunction<Sample> figure) {
    Sample last = life.last();
    double end = figure.applyAsDouble(last);
    if (Double.isNaN(end)) {
      return "";
    }
    List<Sample> window =
        life.samples().stream()
            .filter(
                sample ->
                    last.monotonicNanos() - sample.monotonicNanos() <= WINDOW.toNanos()
                        && !Double.isNaN(figure.applyAsDouble(sample)))
            .toList();
    String now = "; " + name + " " + HumanText.bytes(end);
    if (window.isEmpty()) {
      return now;
    }
    Duration span = Duration.ofNanos(last.monotonicNanos() - window.get(0).monotonicNanos());
    return now
        + ", "
        + HumanText.change(end - figure.applyAsDouble(window.get(0)))
        + " in "
        + HumanText.duration(span);
  }
}
