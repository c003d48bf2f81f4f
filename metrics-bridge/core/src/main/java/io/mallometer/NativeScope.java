package io.mallometer;

import io.mallometer.internal.library.OpenScope;
import io.mallometer.model.RetainedSite;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.ScopeOptions;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures the native memory that a piece of work uses, from {@link
 * Mallometer.Counting#threadScope()} or {@link Mallometer.Counting#processScope()} to {@link
 * #close()}.
 *
 * <pre>{@code
 * try (NativeScope scope = mallometer.counting().threadScope()) {
 *   parse(document);
 *   scope.figures().counts().ifPresent(counted -> log(counted.calls(), counted.peakBytes()));
 * }
 * }</pre>
 *
 * <p>Scopes can nest, overlap, and be closed in any order; each counts what happens while it is
 * open. A thread's scope counts only the thread that opened it, whichever thread reads or closes
 * it.
 *
 * <p>Thread-safe. No method throws: figures that are not measured are empty, with a reason.
 */
public final class NativeScope implements AutoCloseable {

  private final OpenScope open;
  private volatile @Nullable ScopeFigures result;

  NativeScope(OpenScope open) {
    this.open = open;
  }

  /**
   * Opens a scope over the calling thread without a {@link Mallometer}, for use early in the start
   * of an application. The first instance that the application opens later can still set the
   * options. The scope is empty on a virtual thread, or if the library is not preloaded.
   */
  public static NativeScope ofThread() {
    return Mallometer.threadScope(Mallometer.ofThisProcess(), ScopeOptions.defaults());
  }

  /** Returns the figures so far, or the final figures once the scope is closed. */
  public ScopeFigures figures() {
    ScopeFigures closed = result;
    if (closed != null) {
      return closed;
    }
    synchronized (this) {
      closed = result;
      return closed != null ? closed : orNone(open::read);
    }
  }

  /**
   * Returns the sampled call sites of the memory that the scope retains, most bytes first. The list
   * is empty if the scope is closed, does not belong to the calling thread, or was opened without
   * the option {@link ScopeOptions#matched()}. Read {@link #figures()} first, because this method
   * takes milliseconds and allocates.
   */
  public List<RetainedSite> retained() {
    try {
      return result == null ? open.retained() : List.of();
    } catch (RuntimeException | LinkageError e) {
      return List.of();
    }
  }

  /** Ends the scope and returns its figures. Further calls return the same figures. */
  public ScopeFigures unhook() {
    close();
    return figures();
  }

  /** Ends the scope, after which its figures do not change. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (result == null) {
      result = orNone(open::close);
    }
  }

  private static ScopeFigures orNone(Supplier<ScopeFigures> reading) {
    try {
      return reading.get();
    } catch (RuntimeException | LinkageError e) {
      return ScopeFigures.none("the library cannot be called: " + e);
    }
  }
}
