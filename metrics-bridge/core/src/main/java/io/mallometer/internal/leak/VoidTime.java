package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.model.Observation;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Records the time without evidence (void time). An epoch, the time between two readings of the
 * accessed bits, is void if the kernel itself cleared bits in it: an access may have left no trace,
 * so the epoch does not count as idle time. Idle times end with the latest valid epoch, so a void
 * epoch is recorded only once a later valid epoch has ended. At most {@value #MOST} spans are kept;
 * a further span merges the two oldest.
 */
final class VoidTime {

  static final int MOST = 256;

  /** An instance without void time (time without evidence). */
  static final VoidTime NONE = new VoidTime();

  /** The probability at which the calculation stops, because further factors do not matter. */
  private static final double NEGLIGIBLE = 1e-4;

  /** An amount of time without evidence, which lies somewhere between two moments. */
  private record Span(long beginNanos, long endNanos, long voidNanos) {}

  private final Deque<Span> spans = new ArrayDeque<>();
  private long known;

  /** The time without evidence after the end of the latest valid epoch. */
  private long pendingNanos;

  private long lastEndNanos;

  /** Adds the time without evidence since the last call. */
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

  /**
   * Rounds {@code nanos}, the time since the end of the latest valid epoch, down to whole epochs.
   * All of these epochs are void.
   */
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
   * Returns the largest probability that all uses between two moments were in void time, if each
   * use follows the one before within a timeout, and void time is random.
   *
   * <p>At least n uses have come, where n timeouts fit between the moments. The k-th of these uses
   * came within k timeouts after the first moment, and within n + 1 - k timeouts before the second.
   * The void part of that span is the probability that this use was in void time. If there was one
   * more use, all n + 1 uses were in void time; the probability of each is the void part of the
   * whole time. The product begins with the latest use and ends when it is negligible.
   *
   * @param timeout the timeout in seconds; 0 if nothing is used later
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

  /** Returns the largest share (0 to 1) of the time between two moments that can lack evidence. */
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

  /** Returns the time without evidence since a moment, in seconds. */
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
