package io.mallometer;

import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.ScopeMatches;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * An executor that measures work which crosses threads. Each task runs in its own scope, which
 * counts on the thread that runs the task. {@link #figures()} returns the sum of the scopes that
 * have ended.
 *
 * <pre>{@code
 * ScopedExecutor measured = mallometer.counting().across(pool);
 * CompletableFuture.supplyAsync(this::load, measured).thenApplyAsync(this::parse, measured).join();
 * measured.figures().counts().ifPresent(counted -> log(counted.netBytes()));
 * }</pre>
 *
 * <p>It does not see work that a task hands to another executor or thread, threads of native
 * libraries, or frees by threads outside of its tasks. Tasks on virtual threads are not measured.
 * {@link ScopeFigures#reason()} says how many tasks were not measured. Thread-safe.
 */
public final class ScopedExecutor implements Executor {

  private final Executor executor;
  private final Supplier<NativeScope> scopes;

  private ScopeCounts counts = ScopeCounts.NONE;
  private Optional<ScopeMatches> matches = Optional.empty();
  private long measured;
  private long unmeasured;
  private long unmatched;
  private String reason = "";

  ScopedExecutor(Executor executor, Supplier<NativeScope> scopes) {
    this.executor = executor;
    this.scopes = scopes;
  }

  @Override
  public void execute(Runnable task) {
    executor.execute(() -> run(task));
  }

  public synchronized ScopeFigures figures() {
    if (measured == 0 && unmeasured > 0) {
      return ScopeFigures.none(reason);
    }
    String missing =
        unmeasured == 0
            ? reason
            : unmeasured + " of " + (measured + unmeasured) + " tasks were not measured: " + reason;
    return new ScopeFigures(
        Optional.of(counts), unmatched == 0 ? matches : Optional.empty(), missing);
  }

  private void run(Runnable task) {
    NativeScope scope = scopes.get();
    try {
      task.run();
    } finally {
      scope.close();
      add(scope.figures());
    }
  }

  private synchronized void add(ScopeFigures piece) {
    if (!piece.reason().isEmpty()) {
      reason = piece.reason();
    }
    if (piece.counts().isEmpty()) {
      unmeasured++;
      return;
    }
    counts = measured++ == 0 ? piece.counts().get() : counts.plus(piece.counts().get());
    if (piece.matches().isEmpty()) {
      unmatched++;
    } else {
      ScopeMatches more = piece.matches().get();
      matches = Optional.of(matches.map(more::plus).orElse(more));
    }
  }
}
