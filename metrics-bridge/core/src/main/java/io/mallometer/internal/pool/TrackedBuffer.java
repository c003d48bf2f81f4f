package io.mallometer.internal.pool;

import java.lang.ref.WeakReference;

/** A buffer that its library tracks, as the first look found it. Refers weakly to the tracker. */
final class TrackedBuffer extends WeakReference<Object> {

  private final String line;
  private final long capacity;
  private final int chunk;
  private final String kind;
  private final long firstSeen;
  private long lastLook;

  /**
   * Creates a buffer.
   *
   * @param tracker the library's object that stands for it
   * @param line the class, method and line that allocated it
   * @param capacity its bytes
   * @param chunk the identity hash code of its chunk
   * @param kind the kind of its pool
   * @param firstSeen the time of the look, in nanoseconds
   */
  TrackedBuffer(
      Object tracker, String line, long capacity, int chunk, String kind, long firstSeen) {
    super(tracker);
    this.line = line;
    this.capacity = capacity;
    this.chunk = chunk;
    this.kind = kind;
    this.firstSeen = firstSeen;
  }

  String line() {
    return line;
  }

  long capacity() {
    return capacity;
  }

  int chunk() {
    return chunk;
  }

  String kind() {
    return kind;
  }

  long firstSeen() {
    return firstSeen;
  }

  long lastLook() {
    return lastLook;
  }

  void seenIn(Look look) {
    lastLook = look.began();
  }
}
