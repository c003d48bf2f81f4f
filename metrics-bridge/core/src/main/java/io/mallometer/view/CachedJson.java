package io.mallometer.view;

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores the JSON of a view for some seconds, so that requests in that time need not write it
 * again. Thread-safe.
 */
final class CachedJson {

  private final Clock clock;
  private final long seconds;
  private final List<Supplier<?>> subjects;
  private final Supplier<? extends View> view;

  /**
   * The objects that {@code subjects} supplied when the JSON was written. They are compared by
   * identity.
   *
   * <p>{@code this} guards {@code of}, {@code writtenAt} and {@code bytes}.
   */
  private List<Object> of = List.of();

  private long writtenAt;
  private byte @Nullable [] bytes;

  /**
   * Creates a cache. The JSON is written again if it is {@code seconds} old, or if a subject
   * returns another object than before.
   */
  CachedJson(Clock clock, long seconds, Supplier<? extends View> view, Supplier<?>... subjects) {
    this.clock = clock;
    this.seconds = seconds;
    this.subjects = List.of(subjects);
    this.view = view;
  }

  /** Returns the JSON; callers must not change the array. */
  synchronized byte[] bytes() {
    long now = clock.instant().getEpochSecond();
    List<Object> latest = new ArrayList<>();
    subjects.forEach(subject -> latest.add(subject.get()));
    byte @Nullable [] known = bytes;
    // If the clock was set back, the JSON would seem new for too long, so it is written again.
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
