package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.model.Observation;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Records void time. An epoch is the time between two readings of the accessed bits. An epoch is
 * void if an access in it may have left no trace, for example because the kernel itself cleared
 * accessed bits. Void time does not count as idle time.
 *
 * <p>Void epochs are recorded as one span when the next valid epoch ends. The oldest spans are
 * merged when there are more than {@value #MOST}.
 */
final class VoidTime {

  static final int MOST = 256;

  static final VoidTime NONE = new VoidTime();

  /** {@link #hiddenUseProbability} stops multiplying when the product is below this probability. */
  private static final double NEGLIGIBLE = 1e-4;

  /** A period, and its void time: the time in which accesses may have left no trace. */
  private record Span(long beginNanos, long endNanos, long voidNanos) {}

  private final Deque<Span> spans = new ArrayDeque<>();
  private long known;

  /**
   * The void time (in which accesses may have left no trace) since the end of the latest valid
   * epoch.
   */
  private long pendingNanos;

  private long lastEndNanos;

  void add(Evidence evidence) {
    Observation observation = evidence.observation();
    long epochNanos = (long) (observation.period().epochSeconds() * 1e9);
    pendingNanos += Math.max(0, observation.period().voidEpochs() - known) * epochNanos;
    known = Math.max(known, observation.period().voidEpochs());
    long end = observation.period().epochEndNanos();
    long advance = end - Math.max(lastEndNanos, observation.period().startedNanos());
    if (advance > 0) {
      long after = Math.min(pendingNanos, wholeEpochs(evidence.nanos() - end, epochNanos));
      put(new Span(end - advance, end, Math.min(advance, pendingNanos - after)));
      pendingNanos = after;
      lastEndNanos = end;
    }
  }

  private static long wholeEpochs(long nanos, long epochNanos) {
    return epochNanos > 0 ? Math.max(0, nanos / epochNanos * epochNanos) : 0;
  }

  private void put(Span span) {
    if (span.voidNanos() <= 0) {
      return;
    }
    spans.addLast(span);
    if (spans.size() > MOST) {
      Span first = spans.removeFirst();
      Span second = spans.removeFirst();
      spans.addFirst(
          new Span(first.beginNanos(), second.endNanos(), first.voidNanos() + second.voidNanos()));
    }
  }

  /**
   * Returns an upper bound of the probability that all uses between two moments were hidden. A use
   * is hidden if it was in void time, in which accesses may have left no trace. Assumes that uses
   * are at most {@code timeout} seconds apart, and that void time is random.
   *
   * <p>There were at least n uses, where n is the number of timeouts that fit between the moments.
   * The result is the sum of two probabilities:
   *
   * <ul>
   *   <li>There were exactly n uses, and all were hidden. The k-th use was then at most k timeouts
   *       after {@code from} and at most n + 1 - k timeouts before {@code to}. The share of void
   *       time in this interval is the probability that the use was hidden. The n probabilities are
   *       multiplied.
   *   <li>There were more than n uses, and n + 1 of them were hidden, anywhere between the moments.
   * </ul>
   *
   * @param timeout the longest time between two uses, in seconds; 0 if nothing is used later
   */
  double hiddenUseProbability(long from, long to, double timeout) {
    double all = voidPart(from, to);
    if (!(all > 0) || !(timeout > 0)) {
      return 0;
    }
    int uses = (int) ((to - from) / 1e9 / timeout);
    double fewest = 1;
    for (int k = uses; k > 0 && fewest > NEGLIGIBLE; k--) {
      long begin = to - (long) ((uses + 1 - k) * timeout * 1e9);
      long end = from + (long) (k * timeout * 1e9);
      fewest *= voidPart(begin, end);
    }
    return Math.min(1, fewest + Math.pow(all, uses + 1));
  }

  /**
   * Returns an upper bound of the share (0 to 1) of void time in the time between two moments. In
   * void time, accesses may have left no trace.
   */
  private double voidPart(long from, long to) {
    long sum = 0;
    Iterator<Span> latestFirst = spans.descendingIterator();
    while (latestFirst.hasNext()) {
      Span span = latestFirst.next();
      if (span.endNanos() - from <= 0) {
        break;
      }
      long both = Math.min(span.endNanos(), to) - Math.max(span.beginNanos(), from);
      sum += Math.max(0, Math.min(span.voidNanos(), both));
    }
    return Math.min(1, sum / (double) Math.max(1, to - from));
  }

  /**
   * Returns the void time since a moment, in seconds: the time in which accesses may have left no
   * trace.
   */
  double secondsSince(long nanos) {
    long sum = 0;
    Iterator<Span> latestFirst = spans.descendingIterator();
    while (latestFirst.hasNext()) {
      Span span = latestFirst.next();
      if (span.endNanos() - nanos <= 0) {
        break;
      }
      sum += Math.min(span.voidNanos(), span.endNanos() - nanos);
    }
    return sum / 1e9;
  }
}
