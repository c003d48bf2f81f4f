package io.mallometer.junit;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.ScopeCounts;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import org.opentest4j.AssertionFailedError;

/** The limits on a run. A limit of {@link ExpectMaxNative#NONE} is not checked. */
record Limits(long calls, long bytes, long peak) {

  /**
   * Fails if the median of the runs exceeds a limit. A single run proves nothing, because HotSpot
   * allocates in the test's thread now and then.
   */
  void check(List<ScopeCounts> uses, LiveMemoryChange measured) {
    check("calls of malloc", calls, uses, ScopeCounts::calls, HumanText::number, measured);
    check("requested", bytes, uses, ScopeCounts::requestedBytes, HumanText::bytes, measured);
    check("at the peak", peak, uses, ScopeCounts::peakBytes, HumanText::bytes, measured);
  }

  private static void check(
      String what,
      long limit,
      List<ScopeCounts> uses,
      ToDoubleFunction<ScopeCounts> figure,
      DoubleFunction<String> words,
      LiveMemoryChange measured) {
    if (limit == ExpectMaxNative.NONE) {
      return;
    }
    double[] figures = uses.stream().mapToDouble(figure).sorted().toArray();
    // An unknown value is NaN and must fail; with > it would pass.
    if (!(figures[figures.length / 2] <= limit)) {
      throw new AssertionFailedError(FailureText.tooMuch(what, limit, figures, words, measured));
    }
  }
}
