package io.mallometer.view;

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A view as JSON that is written once for all who ask within some seconds, so that what it costs
 * does not grow with them. Thread-safe.
 */
final class WrittenOnce {

  private final Clock clock;
  private final long seconds;
  private final List<Supplier<?>> subjects;
  private final Supplier<? extends View> view;

  /** Guarded by this, as is all below. Compared by identity. */
  private List<Object> of = List.of();

  private long writtenAt;
  private byte @Nullable [] bytes;

  /**
   * A view that is written again when it is as old as {@code seconds}, or of other {@code
   * subjects}.
   */
  WrittenOnce(Clock clock, long seconds, Supplier<? extends View> view, Supplier<?>... subjects) {
    this.clock = clock;
    this.seconds = seconds;
    this.subjects = List.of(subjects);
    this.view = view;
  }

  /** Returns the JSON; not to be changed. */
  synchronized byte[] bytes() {
    long now = clock.instant().getEpochSecond();
    List<Object> latest = new ArrayList<>();
    subjects.forEach(subject -> latest.add(subject.get()));
    byte @Nullable [] known = bytes;
    // A clock that was set back must not keep what is old.
    if (known == null || !same(of, latest) || now < writtenAt || now - writtenAt >= seconds) {
      known = view.get().json();
      bytes = known;
      of = latest;
      writtenAt = now;
    }
    return known;
  }

  private static boolean same(List<Object> some, List<Object> others) {
    for (int i = 0; i < some.size(); i++) {
      if (some.get(i) != others.get(i)) {
        return false;
      }
    }
    return true;
  }
}
