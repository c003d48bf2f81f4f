package io.mallometer.internal.pool;

import io.mallometer.model.Estimate;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * A buffer that its library tracks, with its sizes at the first reading that found it. Refers
 * weakly to the library's tracker of the buffer.
 */
final class TrackedBuffer extends WeakReference<Object> {

  /**
   * The part of a chunk that a buffer uses. A chunk is the memory that a pool allocates at a time.
   *
   * @param kind the kind of the pool
   * @param chunk the chunk, of which only the identity is used; null if the chunk belongs to no
   *     pool
   * @param allocator the object from which the size of the pool is read; null if the buffer uses no
   *     chunk
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
   * @param tracker the library's object that stands for the buffer
   * @param line the class, method and line that allocated the buffer
   * @param part the part of a chunk that the buffer uses
   * @param interval N, if the library tracked one buffer in N when this buffer was allocated
   * @param firstSeen the moment of the reading that found the buffer, in nanoseconds
   * @param arrived whether the buffer was certainly allocated after the previous reading
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
   * Estimates a total, such as bytes, over all buffers for which this buffer stands.
   *
   * @param oneIn N, if one tracked buffer in N is read
   */
  Estimate estimate(double ofOne, int oneIn) {
    double weight = (double) interval * oneIn;
    double value = ofOne * weight;
    return new Estimate(value, weight == 1 ? 0 : value * value, 1);
  }

  /** Returns the identity hash code of the buffer's chunk; 0 if the chunk belongs to no pool. */
  int chunk() {
    return chunk;
  }

  String kind() {
    return kind;
  }

  /**
   * Returns whether the buffer was certainly allocated after the previous reading; false if that
   * reading missed tracked buffers.
   */
  boolean arrived() {
    return arrived;
  }

  long age(long now) {
    return now - firstSeen;
  }

  long seenFor() {
    return lastLook - firstSeen;
  }

  /** Counts the buffer as late (live for a minute). Returns false if it was counted before. */
  boolean countLate() {
    boolean first = !countedLate;
    countedLate = true;
    return first;
  }

  void seenIn(Look look) {
    lastLook = look.began();
  }
}
