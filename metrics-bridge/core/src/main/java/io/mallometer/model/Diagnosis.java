package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The diagnosis on the process: one state, one sentence, and actions. Every face shows the same.
 *
 * @param previous the previous run; empty if none is recorded
 */
public record Diagnosis(
    @Figure("The first of act, watch, too early and healthy that holds") State state,
    @Figure("When this state began") Instant since,
    @Figure("What is the case, without a final full stop") String sentence,
    @Figure("What a person can do, at most three, most urgent first") List<String> actions,
    @Figure("The memory limit, and when it is reached") Limit limit,
    Optional<PreviousRun> previous,
    @Figure("Everything that was looked at, the gravest first: the reasons of the sentence")
        List<Finding> findings,
    @Figure("The growth that the rules read; empty before three readings")
        Optional<Account> account,
    @Figure("The names of the account's rows that the sentence names, in its order")
        List<String> named) {

  /** The states, the mildest first. */
  public enum State implements Tagged {
    /** None of the others, with evidence. */
    HEALTHY,
    /** None of the graver ones, and the evidence is younger than the question needs. */
    TOO_EARLY,
    /** Memory grows, or a suspect holds much of it, and there is time to look. */
    WATCH,
    /** A leak grows, or the limit is near. */
    ACT;

    /** Returns the value of the label {@code state}, such as {@code too_early}. */
    @Override
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the state as people read it, such as {@code too early}. */
    public String words() {
      return tag().replace('_', ' ');
    }
  }

  /**
   * The memory limit, and the time at which memory reaches it if growth continues. The Java heap is
   * projected to its maximum.
   */
  public record Limit(
      @Figure(value = "The limit; NaN without one", unit = BYTES) double bytes,
      @Figure(
              value = "The bytes that count toward it, without pages of files; NaN if unknown",
              unit = BYTES)
          double usedBytes,
      @Figure(
              "The origin of the limit: cgroup, machine, stated by an option, or empty "
                  + "without a limit")
          String source,
      @Figure(
              value =
                  "The lower end of the 95 % interval of the time until memory reaches "
                      + "the limit; NaN unless memory grows toward it",
              unit = SECONDS)
          double lowerSeconds,
      @Figure(value = "The estimate", unit = SECONDS) double seconds,
      @Figure(value = "The upper end; infinite if memory may never reach the limit", unit = SECONDS)
          double upperSeconds) {

    /** The source of a limit that a person stated for this process. */
    public static final String STATED = "stated";

    /** The source of the limit that holds for all processes of the cgroup. */
    public static final String CGROUP = "cgroup";

    /** The source if nobody set a limit: the machine's memory. */
    public static final String MACHINE = "machine";

    /** No limit is known. */
    public static final Limit NONE =
        new Limit(Double.NaN, Double.NaN, "", Double.NaN, Double.NaN, Double.NaN);

    /** Returns a limit that nothing approaches. */
    public static Limit of(double bytes, double usedBytes, String source) {
      return new Limit(bytes, usedBytes, source, Double.NaN, Double.NaN, Double.NaN);
    }

    /** Returns this limit with the times at which it is reached. */
    public Limit reachedIn(double lower, double estimate, double upper) {
      return new Limit(bytes, usedBytes, source, lower, estimate, upper);
    }

    /** Returns the share of the limit that is used; {@code NaN} if unknown. */
    public double usedShare() {
      return usedBytes / bytes;
    }
  }

  /** One finding: a topic that was examined, and its result. */
  public record Finding(
      @Figure(
              "What it is about: limit, previous, leaks, growth, retained, budget, "
                  + "unexplained or counting")
          String topic,
      @Figure("The state that it asks for") State state,
      @Figure("What was found, in words and numbers") String text) {}

  public Diagnosis {
    actions = List.copyOf(actions);
    findings = List.copyOf(findings);
    named = List.copyOf(named);
  }

  /** Returns the diagnosis of a process of which nothing has been read. */
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
        List.of());
  }

  /** Returns this diagnosis with a later reading of the limit. */
  public Diagnosis with(Limit reading, Optional<PreviousRun> run) {
    return with(since, sentence, reading, run);
  }

  /** Returns this diagnosis as one of a state that began earlier. */
  public Diagnosis since(Instant began) {
    return with(began, sentence, limit, previous);
  }

  /** Returns this diagnosis with a longer sentence. */
  public Diagnosis saying(String words) {
    return with(since, words, limit, previous);
  }

  /** Returns this diagnosis in another state. */
  public Diagnosis in(State other) {
    return new Diagnosis(
        other, since, sentence, actions, limit, previous, findings, account, named);
  }

  private Diagnosis with(Instant began, String words, Limit reading, Optional<PreviousRun> run) {
    return new Diagnosis(state, began, words, actions, reading, run, findings, account, named);
  }
}
