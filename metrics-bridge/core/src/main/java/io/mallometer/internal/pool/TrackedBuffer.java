package io.mallometer.internal.pool;

import java.lang.ref.WeakReference;

/** A buffer that its library tracks, as the first look found it. Refers weakly to the tracker. */
final class TrackedBuffer extends WeakReference<Object> {

  private final String line;
  private final long capacity;
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
   * @param firstSeen the time of the look, in nanoseconds
   * @param arrived whether the look before saw all buffers, so that this one is younger
   */
  TrackedBuffer(Object tracker, String line, NettyCopy.Part part, long firstSeen, boolean arrived) {
    super(tracker);
    this.line = line;
    this.capacity = part.bytes();
    this.chunk = part.chunk() == null ? 0 : System.identityHashCode(part.chunk());
    this.kind = part.kind();
    this.firstSeen = firstSeen;
    this.arrived = arrived;
  }

  String line() {
    return line;
  }

  long capacity() {
    return capacity;
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
