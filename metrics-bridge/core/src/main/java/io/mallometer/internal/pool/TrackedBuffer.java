package io.mallometer.internal.pool;

import io.mallometer.model.Estimate;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/** A buffer that its library tracks, as the first look found it. Refers weakly to the tracker. */
final class TrackedBuffer extends WeakReference<Object> {

  /**
   * The part of a chunk that a buffer has.
   *
   * @param kind the kind of the pool
   * @param chunk the chunk, which is only compared; null if it belongs to no pool
   * @param allocator the object with the sizes of the pool
   * @param bytes the bytes of the part
   */
  record Part(String kind, @Nullable Object chunk, @Nullable Object allocator, long bytes) {}

  private final String line;
  private final long capacity;
  private final int interval;
  private final int chunk;
  private final String kind;
  private final long firstSeen;
  private final boolean arrived;
  private long lastLook;
  private boolean countedLate;

  /**
   * Creates a buffer.
   *
   * @param tracker the library's object that stands for it
   * @param line the class, method and line that allocated it
   * @param part its part of a chunk
   * @param interval one buffer in so many was tracked when it was allocated
   * @param firstSeen the time of the look, in nanoseconds
   * @param arrived whether the look before saw all buffers, so that this one is younger
   */
  TrackedBuffer(
      Object tracker, String line, Part part, int interval, long firstSeen, boolean arrived) {
    super(tracker);
    this.line = line;
    this.capacity = part.bytes();
    this.chunk = part.chunk() == null ? 0 : System.identityHashCode(part.chunk());
    this.kind = part.kind();
    this.interval = interval;
    this.firstSeen = firstSeen;
    this.arrived = arrived;
  }

  String line() {
    return line;
  }

  long capacity() {
    return capacity;
  }

  /**
   * Returns what it stands for of a figure of one buffer.
   *
   * @param oneIn one tracked buffer in so many is read
   */
  Estimate estimate(double ofOne, int oneIn) {
    double weight = (double) interval * oneIn;
    double value = ofOne * weight;
    return new Estimate(value, weight == 1 ? 0 : value * value, 1);
  }

  /** Returns the identity hash code of its chunk; 0 if that belongs to no pool. */
  int chunk() {
    return chunk;
  }

  String kind() {
    return kind;
  }

  /** Returns whether it was allocated while the library was watched. */
  boolean arrived() {
    return arrived;
  }

  /** Returns for how long it has been seen at a time, in nanoseconds. */
  long age(long now) {
    return now - firstSeen;
  }

  /** Returns for how long it was seen, in nanoseconds. */
  long seenFor() {
    return lastLook - firstSeen;
  }

  /** Returns whether it is asked for the first time whether it was counted as late. */
  boolean countLate() {
    boolean first = !countedLate;
    countedLate = true;
    return first;
  }

  void seenIn(Look look) {
    lastLook = look.began();
  }
}
