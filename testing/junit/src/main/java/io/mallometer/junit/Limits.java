package io.mallometer.junit;

import io.mallometer.internal.text.Words;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import org.opentest4j.AssertionFailedError;

/** How much a run may use; a limit of {@link ExpectMaxNative#NONE} holds nothing back. */
record Limits(long calls, long bytes, long peak) {

  /** Fails if the median use exceeds a limit: now and then HotSpot allocates in the thread, too. */
  void check(List<NativeUse> uses, Measured measured) {
    check("calls of malloc", calls, uses, NativeUse::calls, Words::number, measured);
    check("requested", bytes, uses, NativeUse::bytes, Words::bytes, measured);
    check("at the peak", peak, uses, NativeUse::peak, Words::bytes, measured);
  }

  private static void check(
      String what,
      long limit,
      List<NativeUse> uses,
      ToDoubleFunction<NativeUse> figure,
      DoubleFunction<String> words,
      Measured measured) {
    if (limit == ExpectMaxNative.NONE) {
      return;
    }
    double[] figures = uses.stream().mapToDouble(figure).sorted().toArray();
    // A figure that is unknown is not within a limit.
    if (!(figures[figures.length / 2] <= limit)) {
      throw new AssertionFailedError(FailureText.tooMuch(what, limit, figures, words, measured));
    }
  }
}
