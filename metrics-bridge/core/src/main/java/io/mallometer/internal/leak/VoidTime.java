package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.Evidence;
import io.mallometer.model.Observation;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * When nothing was seen: in an epoch in which the kernel itself cleared accessed bits a use leaves
 * no trace, so that time is no idle time. Idle times end with the latest epoch that says something,
 * so void epochs count from the next such end on. At most {@value #MOST} spans are kept; the oldest
 * two become one.
 */
final class VoidTime {

  static final int MOST = 256;

  /** No time was void. */
  static final VoidTime NONE = new VoidTime();

  private record Span(long endNanos, long voidNanos) {}

  private final Deque<Span> spans = new ArrayDeque<>();
  private long known;

  /** Void time after the latest epoch that says something. */
  private long pendingNanos;

  private long lastEndNanos;

  /** Notes what became void since this was last called. */
  void add(Evidence evidence) {
    Observation observation = evidence.observation();
    long epochNanos = (long) (observation.epochSeconds() * 1e9);
    pendingNanos += Math.max(0, observation.voidEpochs() - known) * epochNanos;
    known = Math.max(known, observation.voidEpochs());
    long end = observation.epochEndNanos();
    long advance = end - Math.max(lastEndNanos, observation.startedNanos());
    if (advance > 0) {
      long after = Math.min(pendingNanos, wholeEpochs(evidence.nanos() - end, epochNanos));
      put(new Span(end, Math.min(advance, pendingNanos - after)));
      pendingNanos = after;
      lastEndNanos = end;
    }
  }

  /** Epochs that ended since the latest that says something say nothing. */
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
      spans.addFirst(new Span(second.endNanos(), first.voidNanos() + second.voidNanos()));
    }
  }

  /**
   * Whether a use in void time may have parted the time from one moment to another into two that
   * are both shorter than so many seconds. That several did is not reckoned with.
   */
  boolean mayPart(long from, long to, double seconds) {
    for (Span span : spans) {
      long end = Math.min(span.endNanos(), to);
      double before = (end - span.voidNanos() - from) / 1e9;
      double after = (to - end) / 1e9;
      boolean within = end - from > 0;
      if (within && before < seconds && after < seconds) {
        return true;
      }
    }
    return false;
  }

  /** How much of the time since a moment was void, in seconds. */
  double since(long nanos) {
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
