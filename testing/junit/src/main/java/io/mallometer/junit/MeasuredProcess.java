package io.mallometer.junit;

import io.mallometer.model.Status;
import java.nio.file.Path;
import java.util.Optional;

/** A process whose native memory tests measure: the one that they run in, or another. */
interface MeasuredProcess {

  /** Returns whether it counts, after an attach if that is possible. Never throws. */
  Status status();

  /**
   * Begins to look at live memory by call site.
   *
   * @param of whose memory
   * @param test the class whose stacks are those of the test
   */
  Watch watch(Of of, Class<?> test);

  /** Begins to count. Closed by the thread that opened it. */
  Counting count(Of of);

  /**
   * Begins to monitor, until {@link Monitoring#end()}, which the same thread calls.
   *
   * @param of whose memory
   * @param test the class whose stacks are those of the test
   * @param rows the file for rows, if the annotation asks for some
   * @throws IllegalStateException if that is not possible, with the reason
   */
  default Monitoring monitor(MonitorNative wanted, Of of, Class<?> test, Optional<Path> rows) {
    throw new IllegalStateException("monitors are for the process that the tests run in");
  }

  /** The monitors of a test. */
  interface Monitoring {

    /** Ends them and returns what they saw, in lines. Called once. */
    String end();

    /**
     * Fails if they saw what is to fail the test.
     *
     * @param report what {@link #end()} returned
     * @throws org.opentest4j.AssertionFailedError with that text
     */
    void check(String report);
  }

  /**
   * Live memory by call site, of what is allocated while it is open. It can be read afterwards,
   * too.
   */
  interface Watch extends AutoCloseable {

    /** Reads what is live now. */
    Reading read();

    /** Collects garbage and waits for what that frees. Returns false where it cannot. */
    boolean collectGarbage();

    /** Returns what is live of the whole process, HotSpot's own memory included. */
    default double processBytes() {
      return 0;
    }

    /** Returns what is in the readings, as a sentence. */
    String scope();

    @Override
    void close();
  }

  /** Calls and bytes while it is open. */
  interface Counting extends AutoCloseable {

    /**
     * Returns what was counted since it was opened.
     *
     * @throws IllegalStateException if nothing was, with the reason
     */
    NativeUse use();

    @Override
    void close();
  }
}
