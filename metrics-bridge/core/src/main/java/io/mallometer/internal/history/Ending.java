package io.mallometer.internal.history;

import io.mallometer.internal.text.Words;
import io.mallometer.model.PreviousRun;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * How a life ended, in words, from what is known and no more.
 *
 * <p>A process that exits says goodbye. One that does not was killed, crashed, or went down with
 * the machine, which nobody tells it. Near the limit, or when the kernel's count of kills rose, the
 * memory limit is the likely cause.
 *
 * @param kind which of the cases
 * @param sentence what happened, without a final full stop
 */
record Ending(Kind kind, String sentence) {

  /** The cases. */
  enum Kind {
    /** A process still writes the file. */
    RUNNING,
    /** It said goodbye. */
    EXITED,
    /** It had begun to shut down and did not get to the end. */
    KILLED_IN_SHUTDOWN,
    /** No goodbye, and the kernel's count of kills because of the limit rose. */
    KILLED_BY_LIMIT,
    /** No goodbye, near the limit. */
    NEAR_LIMIT,
    /** No goodbye, far from the limit or without one. */
    WITHOUT_GOODBYE,
    /** Nothing was recorded. */
    UNKNOWN
  }

  /** From this share on the limit is the likely reason for an end without goodbye. */
  private static final double NEAR = 0.9;

  private static final Duration WINDOW = Duration.ofHours(1);

  /** Tells an ending from the file and what can be seen from outside. */
  static Ending of(RecordedLife life, Aftermath aftermath) {
    if (life.empty()) {
      return aftermath.inUse()
          ? new Ending(Kind.RUNNING, "is still running")
          : new Ending(Kind.UNKNOWN, "ended before anything was recorded");
    }
    Sample last = life.last();
    String memory = memory(life);
    if (aftermath.inUse() && life.exit().isEmpty()) {
      return new Ending(Kind.RUNNING, "is still running" + at(last) + memory);
    }
    if (life.exit().isPresent()) {
      return new Ending(Kind.EXITED, exited(life.exitCode()) + at(last) + memory);
    }
    if (life.shutdown().isPresent()) {
      return inShutdown(life, memory);
    }
    return withoutGoodbye(last, aftermath, memory);
  }

  private static String exited(int code) {
    return code == RecordingFormat.STATUS_NOT_TOLD
        ? "ended (status unknown)"
        : "exited with code " + (code & 0xff);
  }

  /** Whether somebody should look. */
  boolean alarming() {
    return kind != Kind.EXITED && kind != Kind.RUNNING;
  }

  /** Returns why the run ended, in a word. */
  String reason() {
    return switch (kind) {
      case KILLED_BY_LIMIT, NEAR_LIMIT -> PreviousRun.OOM;
      case KILLED_IN_SHUTDOWN, WITHOUT_GOODBYE -> "killed";
      case EXITED -> "exit";
      default -> "unknown";
    };
  }

  /**
   * Such as {@code The previous run was OOM-killed at 14:02 UTC at 99 % of the limit of 512 MiB;
   * ReportArchive.pack had grown by 210 MiB in 40 min}.
   */
  String inShort(RecordedLife life) {
    if (life.empty()) {
      return "The previous run " + sentence;
    }
    String how =
        switch (kind) {
          case RUNNING -> "is still running";
          case KILLED_BY_LIMIT -> "was OOM-killed";
          case NEAR_LIMIT -> "was most likely OOM-killed";
          case EXITED -> "ended";
          default -> "was killed or crashed";
        };
    Optional<Grown> grown = alarming() ? Grown.most(life) : Optional.empty();
    return "The previous run "
        + how
        + " at "
        + Words.minute(life.last().time())
        + at(life.last())
        + grown.map(most -> "; " + most).orElse("");
  }

  private static Ending inShutdown(RecordedLife life, String memory) {
    Duration since = Duration.between(life.shutdown().orElseThrow(), life.last().time());
    String words = since.isNegative() ? "" : ", " + Words.duration(since) + " after it had begun,";
    return new Ending(
        Kind.KILLED_IN_SHUTDOWN,
        "was ended during its shutdown"
            + words
            + " without an exit record"
            + at(life.last())
            + memory);
  }

  private static Ending withoutGoodbye(Sample last, Aftermath aftermath, String memory) {
    double share = last.shareOfLimit();
    boolean near = share >= NEAR;
    if (aftermath.oomKills() > last.oomKills()) {
      String count =
          "the kernel's count of processes that it killed for the limit rose from "
              + Words.number(last.oomKills())
              + " to "
              + Words.number(aftermath.oomKills());
      return new Ending(
          Kind.KILLED_BY_LIMIT,
          (near ? "was killed" : "ended without an exit record")
              + at(last)
              + " ("
              + count
              + ")"
              + memory);
    }
    if (near) {
      return new Ending(
          Kind.NEAR_LIMIT,
          "ended without an exit record"
              + at(last)
              + ", so it was most likely killed for exceeding it"
              + memory);
    }
    String cause =
        aftermath.machineRestarted()
            ? " (the machine was restarted, or this is another machine)"
            : " (kill -9, a crash, or the machine)";
    return new Ending(
        Kind.WITHOUT_GOODBYE, "ended without an exit record" + at(last) + cause + memory);
  }

  private static String at(Sample last) {
    return Double.isNaN(last.shareOfLimit())
        ? ""
        : " at "
            + Words.share(last.shareOfLimit())
            + " of the limit of "
            + Words.bytes(last.limitBytes());
  }

  private static String memory(RecordedLife life) {
    String live = growth("malloc live", life, Sample::liveBytes);
    String resident = growth("resident", life, Sample::residentBytes);
    return live + resident;
  }

  /** What it was in the end, and how that came about within the last hour. */
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
    String now = "; " + name + " " + Words.bytes(end);
    if (window.isEmpty()) {
      return now;
    }
    Duration span = Duration.ofNanos(last.monotonicNanos() - window.get(0).monotonicNanos());
    return now
        + ", "
        + Words.change(end - figure.applyAsDouble(window.get(0)))
        + " in "
        + Words.duration(span);
  }
}
