package io.mallometer;

import io.mallometer.model.NativeCounters;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Difference of the counters between two moments: {@link Mallometer.Counting#hook()} opens a
 * bracket, {@link #unhook()} or {@code try}-with-resources closes it.
 *
 * <pre>{@code
 * try (Bracket bracket = mallometer.counting().hookThread()) {
 *   parse(document);
 *   bracket.statistics().ifPresent(counted -> log(counted.allocations(), counted.liveBytes()));
 * }
 * }</pre>
 *
 * <p>A bracket subtracts a private baseline. Any number of them may be open at once; they stop,
 * reset and disturb nothing. A bracket over the whole process may be used from any thread. A
 * bracket over one thread answers only that thread, because the native library can read only the
 * thread that asks; elsewhere {@link #statistics()} is empty until the owner has called {@link
 * #unhook()}.
 *
 * <p>{@link NativeCounters#peakBytes()} and {@link NativeCounters#largestRequestBytes()} are those
 * of the process's whole life, not of the bracket.
 *
 * @deprecated {@link NativeScope} has a peak and a largest allocation of its own
 */
@Deprecated
public final class Bracket implements AutoCloseable {

  private final Supplier<Optional<NativeCounters>> counters;
  private final Optional<NativeCounters> start;
  private volatile @Nullable Optional<NativeCounters> result;

  /**
   * Opens a bracket now.
   *
   * @param counters reads what the bracket is over; empty when it cannot be read
   */
  Bracket(Supplier<Optional<NativeCounters>> counters) {
    this.counters = counters;
    this.start = counters.get();
  }

  /**
   * Returns the counts since the bracket was opened, or, once it is closed, while it was open.
   * Empty if the library did not count at either end, or if this is a bracket over another thread.
   */
  public Optional<NativeCounters> statistics() {
    Optional<NativeCounters> closed = result;
    return closed != null ? closed : difference();
  }

  /**
   * Closes the bracket. Its statistics do not change after that. Does nothing but answer the same
   * again if it is closed already. A bracket over one thread that another thread closes stays empty
   * for good.
   */
  public synchronized Optional<NativeCounters> unhook() {
    Optional<NativeCounters> closed = result;
    if (closed == null) {
      closed = difference();
      result = closed;
    }
    return closed;
  }

  /** The same as {@link #unhook()}. */
  @Override
  public void close() {
    unhook();
  }

  private Optional<NativeCounters> difference() {
    if (start.isEmpty()) {
      return Optional.empty();
    }
    Optional<NativeCounters> end = counters.get();
    return end.isEmpty() ? end : Optional.of(end.get().minus(start.get()));
  }
}
