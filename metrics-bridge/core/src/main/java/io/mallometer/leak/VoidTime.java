package io.mallometer.leak;

import io.mallometer.Observation;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * When nothing was seen: in an epoch in which the kernel itself cleared accessed bits a use leaves
 * no trace, so that time is no idle time. At most {@value #MOST} spans are kept; the oldest two
 * become one.
 */
final class VoidTime {

  static final int MOST = 256;

  /** No time was void. */
  static final VoidTime NONE = new VoidTime();

  private record Span(long endNanos, long voidNanos) {}

  private final Deque<Span> spans = new ArrayDeque<>();
  private long known;
  private long lookedAt;

  /** Notes what became void since this was last called. */
  void add(Evidence evidence) {
    Observation observation = evidence.observation();
    long added = observation.voidEpochs() - known;
    if (added > 0) {
      long longest = Math.max(0, evidence.nanos() - Math.max(lookedAt, observation.startedNanos()));
      long nanos = (long) (added * observation.epochSeconds() * 1e9);
      put(new Span(evidence.nanos(), Math.min(longest, nanos)));
    }
    known = Math.max(known, observation.voidEpochs());
    lookedAt = evidence.nanos();
  }

  private void put(Span span) {
    spans.addLast(span);
    if (spans.size() > MOST) {
      Span first = spans.removeFirst();
      Span second = spans.removeFirst();
      spans.addFirst(new Span(second.endNanos(), first.voidNanos() + second.voidNanos()));
    }
  }

  /** How much of the time since a moment was void, in seconds. */
  double since(long nanos) {
    long sum = 0;
    for (Span span : spans) {
      if (span.endNanos() - nanos > 0) {
        sum += span.voidNanos();
      }
    }
    return sum / 1e9;
  }
}
