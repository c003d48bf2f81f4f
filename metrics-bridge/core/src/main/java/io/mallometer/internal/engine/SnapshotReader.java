package io.mallometer.internal.engine;

import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Snapshot;
import java.util.Optional;

/**
 * Reads one part of a snapshot at its own pace. The poller's thread calls all readers in turn. A
 * reader that needs another part takes that part from the snapshot, not from the other reader. A
 * reader that throws keeps its latest reading.
 */
interface SnapshotReader {

  /** Returns the sentence to log when this reader fails for the first time. */
  String failure();

  /**
   * Returns the first poll in which this reader reads: 1 or 2, counted from the start of the
   * poller's thread.
   */
  default int firstPoll() {
    return 1;
  }

  /**
   * Reads if a reading is due. Called before the counters are read.
   *
   * @param soFar the latest snapshot, with the new readings of the readers before this one
   */
  default void read(Snapshot soFar) throws Exception {}

  /** Returns the snapshot with this reader's latest reading added. May be called on any thread. */
  default Snapshot show(Snapshot snapshot) {
    return snapshot;
  }

  /** Returns whether the published snapshot is a reason to read again in the same poll. */
  default boolean isUrgent(Snapshot published) {
    return false;
  }

  /**
   * Called if a reader reports {@link #isUrgent} for a poll's first snapshot. Prepares a second
   * {@link #read} in that poll, for example by ending a pause. Returns whether this reader takes
   * part.
   */
  default boolean renew() {
    return false;
  }

  default void published(Snapshot snapshot) throws Exception {}

  /** Returns whether a reading was requested since the last call. The thread then polls early. */
  default boolean isAsked() {
    return false;
  }

  /** Applies the options of the process; empty if no {@code Mallometer} object is open. */
  default void configure(Optional<MallometerOptions> options) {}

  default void attached() {}

  default void suspend() {}

  default void end() {}
}
