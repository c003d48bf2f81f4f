package io.mallometer.junit;

import io.mallometer.internal.text.HumanText;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;

/** Builds the text of a failed test: value, limit, spread, method of counting and stacks. */
final class FailureText {

  private FailureText() {}

  /**
   * Returns the text for runs that exceed a limit.
   *
   * @param figures the values of the runs; must be sorted
   */
  static String tooMuch(
      String what,
      long limit,
      double[] figures,
      DoubleFunction<String> words,
      LiveMemoryChange measured) {
    double median = figures[figures.length / 2];
    String spread =
        figures.length == 1
            ? ""
            : "\nOf %d runs: least %s, median %s, most %s."
                .formatted(
                    figures.length,
                    words.apply(figures[0]),
                    words.apply(median),
                    words.apply(figures[figures.length - 1]));
    return "Native memory: %s %s, allowed are %s.%s\n%s.%s"
        .formatted(
            words.apply(median),
            what,
            words.apply(limit),
            spread,
            measured.watch().scope(),
            stacks("allocated", measured.allocated(), measured.test()));
  }

  static String notFreed(long allowed, LiveMemoryChange measured) {
    double left = measured.left();
    List<Kept> kept = measured.kept();
    return "Native memory: %s in %s objects are not freed, allowed are %s.\n%s.%s%s"
        .formatted(
            HumanText.bytes(left),
            HumanText.number(kept.stream().mapToDouble(Kept::objects).sum()),
            HumanText.bytes(allowed),
            measured.watch().scope(),
            collected(left, measured.collect()),
            stacks("kept", kept, measured.test()));
  }

  static String withoutSites(long allocations) {
    return """
        Whether native memory is kept is not known: %d allocations of the runs found no room among the call sites of this JVM.
        Run the test class in a JVM of its own, as with Surefire's reuseForks=false."""
        .formatted(allocations);
  }

  static String notFollowed(long allocations) {
    return """
        Native memory grows, but where is not known: %d allocations of the runs could not be followed, as too many are live in this JVM.
        Run the test class in a JVM of its own, as with Surefire's reuseForks=false."""
        .formatted(allocations);
  }

  /**
   * Returns the text for two series that both grow by more than allowed.
   *
   * @param growing the growth in the second series by the name of the call sites
   * @param freed the bytes that a garbage collection freed after the runs, or NaN
   */
  static String grows(
      Map<String, Growth> growing,
      ExpectNoNativeGrowth expected,
      int warmups,
      double freed,
      LiveMemoryChange measured) {
    Map.Entry<String, Growth> first = growing.entrySet().iterator().next();
    Growth growth = first.getValue();
    String where = first.getKey().equals(Series.ALL) ? "" : " in " + first.getKey();
    double kept = measured.left();
    return """
        Native memory grows by %s a run%s (95 %% interval %s to %s), allowed are %s.
        After %d runs to warm up, %d runs left %s. Of the last %d: least %s, median %s, most %s.
        %s.%s%s"""
        .formatted(
            HumanText.bytes(growth.slope()),
            where,
            HumanText.bytes(growth.lower()),
            HumanText.bytes(growth.upper()),
            HumanText.bytes(expected.perIteration()),
            warmups,
            2 * expected.iterations(),
            HumanText.bytes(kept),
            expected.iterations(),
            HumanText.bytes(growth.smallest()),
            HumanText.bytes(growth.median()),
            HumanText.bytes(growth.largest()),
            measured.watch().scope(),
            collected(kept, freed),
            stacks("kept", measured.kept(), measured.test()));
  }

  private static String collected(double kept, double freed) {
    return Double.isNaN(freed)
        ? ""
        : "\nA garbage collection freed %s of it%s."
            .formatted(
                HumanText.bytes(Math.max(0, Math.min(kept, freed))),
                freed > 0 && freed * 2 >= kept
                    ? ": the objects are unreachable, but were not closed"
                    : "");
  }

  private static String stacks(String did, List<Kept> kept, Class<?> test) {
    return kept.isEmpty()
        ? ""
        : "\nStacks that %s most:\n%s".formatted(did, StackTree.of(kept, test));
  }
}
