package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import io.mallometer.model.ScopeCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The native memory of a test, as a parameter of its method. Code that runs for the first time
 * loads classes and libraries, so run it once before it is measured:
 *
 * <pre>{@code
 * @Test
 * @ExtendWith(NativeMemoryExtension.class)
 * void compresses(NativeMemory memory) {
 *   compressor.compress(document);
 *   memory.assertThat(() -> compressor.compress(document)).callsAtMost(10).keepsNothing();
 * }
 * }</pre>
 */
public final class NativeMemory {

  private final ThisProcess process;
  private final Class<?> test;
  private final boolean alone;

  /** The phases that have ended. This object's lock guards them and the open phase. */
  private final List<Map.Entry<String, String>> phases = new ArrayList<>();

  private ThisProcess.@Nullable Counting phase;
  private String phaseName = "";

  NativeMemory(ThisProcess process, Class<?> test, boolean alone) {
    this.process = process;
    this.test = test;
    this.alone = alone;
  }

  /**
   * A piece of code.
   *
   * @param <E> the exception that it may throw
   */
  @FunctionalInterface
  public interface Action<E extends Throwable> {
    /** Runs the piece of code. */
    void run() throws E;
  }

  /** Runs a piece of code once and returns the native memory that the calling thread used. */
  public <E extends Throwable> ScopeCounts measure(Action<E> action) throws E {
    return measure(Of.TEST, action);
  }

  /** Runs a piece of code once and returns the native memory that it used. */
  public <E extends Throwable> ScopeCounts measure(Of of, Action<E> action) throws E {
    try (ThisProcess.Counting counting = process.count(of)) {
      action.run();
      return counting.use();
    }
  }

  /**
   * Ends the current phase of the test and begins the next. A phase counts the whole process. The
   * last phase ends with the test. Every phase appears in the report of the test as the entry
   * {@code phase NAME}.
   *
   * @param name the name of the next phase
   * @return the figures of the phase that ended; empty if none was open
   */
  public synchronized Optional<ScopeCounts> nextPhase(String name) {
    Optional<ScopeCounts> ended = endPhase();
    phase = process.count(Of.PROCESS);
    phaseName = name;
    return ended;
  }

  synchronized Optional<ScopeCounts> endPhase() {
    ThisProcess.Counting ending = phase;
    phase = null;
    if (ending == null) {
      return Optional.empty();
    }
    try (ending) {
      ScopeCounts use = ending.use();
      phases.add(Map.entry("phase " + phaseName, Monitored.maximum(use)));
      return Optional.of(use);
    }
  }

  synchronized List<Map.Entry<String, String>> phases() {
    return List.copyOf(phases);
  }

  /** Runs a piece of code once, for assertions on the native memory of the calling thread. */
  public <E extends Throwable> NativeAssert assertThat(Action<E> action) throws E {
    return assertThat(Of.TEST, action);
  }

  /** Runs a piece of code once, for assertions on the native memory that it used. */
  public <E extends Throwable> NativeAssert assertThat(Of of, Action<E> action) throws E {
    try (Watch watch = process.watch(alone ? of : Of.TEST, test)) {
      LiveReading before = watch.read();
      ScopeCounts use = measure(of, action);
      return new NativeAssert(use, new LiveMemoryChange(watch, test, before, watch.read()));
    }
  }
}
