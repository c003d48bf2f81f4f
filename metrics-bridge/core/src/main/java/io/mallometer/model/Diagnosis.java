package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The diagnosis on the process: one state, one sentence, and actions. JMX, metrics and the page
 * show the same diagnosis.
 *
 * @param previous the previous run; empty if none is recorded
 */
public record Diagnosis(
    @Figure(
            "The diagnosis on the process: the first of act, watch, too early and healthy that holds")
        State state,
    @Figure("When this state began") Instant since,
    @Figure("What is the case, without a final full stop") String sentence,
    @Figure("What a person can do, at most three, most urgent first") List<String> actions,
    @Figure("The memory limit, and when it is reached") Limit limit,
    Optional<PreviousRun> previous,
    @Figure("Everything that was looked at, the gravest first: the reasons of the sentence")
        List<Finding> findings,
    @Figure("The growth that the rules read; empty before three readings")
        Optional<Account> account,
    @Figure(
            "The growth of the last hour, or since the start-up if that is shorter; empty before "
                + "three readings")
        Optional<Account> hour,
    @Figure("The names of the account's rows that the sentence names, in its order")
        List<String> named) {

  /** The states, mildest first. */
  public enum State implements Tagged {
    /** Nothing needs attention, and the process was observed for long enough to tell. */
    HEALTHY,
    /** Nothing needs attention so far, but the process was not observed for long enough to tell. */
    TOO_EARLY,
    /**
     * Memory grows, or a call site that may leak holds much memory. There is time to investigate.
     */
    WATCH,
    /** A leak grows, or the limit is near. */
    ACT;

    /** Returns the value of the label {@code state}, such as {@code too_early}. */
    @Override
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the words for people, such as {@code too early}. */
    public String words() {
      return tag().replace('_', ' ');
    }
  }

  /**
   * The memory limit, and the time until memory reaches it at the present growth. The Java heap is
   * assumed to grow to its maximum.
   */
  public record Limit(
      @Figure(value = "The limit; unknown without one", unit = BYTES) double bytes,
      @Figure(
              value =
                  "The bytes that count toward it, without pages of files; unknown if the system does not tell",
              unit = BYTES)
          double usedBytes,
      @Figure(
              "The origin of the limit: cgroup, machine, stated by an option, or empty "
                  + "without a limit")
          String source,
      @Figure(value = "The lower end of the 95 % interval of seconds", unit = SECONDS)
          double lowerSeconds,
      @Figure(
              value =
                  "The estimated time until memory reaches its limit if growth continues; absent while it does not grow",
              unit = SECONDS)
          double seconds,
      @Figure(value = "The upper end; unknown if memory may never reach the limit", unit = SECONDS)
          double upperSeconds) {

    /** The source of a limit that an option states for this process. */
    public static final String STATED = "stated";

    /** The source of the limit that holds for all processes of the cgroup. */
    public static final String CGROUP = "cgroup";

    /** The source if no limit is set: the machine's memory is the limit. */
    public static final String MACHINE = "machine";

    /** The value for an unknown limit. */
    public static final Limit NONE =
        new Limit(Double.NaN, Double.NaN, "", Double.NaN, Double.NaN, Double.NaN);

    /** Returns a limit without the times until memory reaches it. */
    public static Limit of(double bytes, double usedBytes, String source) {
      return new Limit(bytes, usedBytes, source, Double.NaN, Double.NaN, Double.NaN);
    }

    /** Returns this limit with the seconds until memory reaches it. */
    public Limit reachedIn(double lower, double estimate, double upper) {
      return new Limit(bytes, usedBytes, source, lower, estimate, upper);
    }

    /** Returns the share of the limit that is used; {@code NaN} if unknown. */
    public double usedShare() {
      return usedBytes / bytes;
    }
  }

  /** A topic that was examined, with the result. */
  public record Finding(
      @Figure(
              "What it is about: limit, heap, previous, leaks, growth, pools, garbage, counting, "
                  + "missed, compilation, classes, retained, budget, unexplained or account")
          String topic,
      @Figure("The state that it asks for") State state,
      @Figure("What was found, in words and numbers") String text) {}

  public Diagnosis {
    actions = List.copyOf(actions);
    findings = List.copyOf(findings);
    named = List.copyOf(named);
  }

  /** Returns the diagnosis before anything is known about the process. */
  public static Diagnosis none(Instant since) {
    return new Diagnosis(
        State.TOO_EARLY,
        since,
        "Too early to tell: nothing has been read yet",
        List.of(),
        Limit.NONE,
        Optional.empty(),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        List.of());
  }

  /** Returns this diagnosis with the time at which its state began. */
  public Diagnosis since(Instant began) {
    return held(state, began, sentence, actions, named);
  }

  /**
   * Returns this diagnosis with parts of an earlier diagnosis that still holds: {@link #state},
   * {@link #since}, {@link #sentence}, {@link #actions} and {@link #named}.
   */
  public Diagnosis held(
      State held, Instant began, String words, List<String> toDo, List<String> rows) {
    return new Diagnosis(held, began, words, toDo, limit, previous, findings, account, hour, rows);
  }
}
