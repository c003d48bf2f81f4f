package io.mallometer.internal.owner;

import io.mallometer.internal.process.JavaHeap;
import io.mallometer.internal.process.ProcessorShare;
import io.mallometer.model.Diagnosis.Limit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The heap size, the processor share and the memory limit of this process. */
public final class ProcessWalkConditions implements OwnerSearches.WalkConditions {

  /** A measured slowdown is used for this time, which is longer than most searches take. */
  private static final long SLOWDOWN_VALID_NANOS = 10_000_000_000L;

  private final Supplier<Limit> limit;
  private final LongSupplier nanoTime;
  private final ProcessorShare share = new ProcessorShare();
  private volatile MeasuredSlowdown slowdown;

  private record MeasuredSlowdown(double slowdown, long nanos) {}

  public ProcessWalkConditions(Supplier<Limit> limit, LongSupplier nanoTime) {
    this.limit = limit;
    this.nanoTime = nanoTime;
    this.slowdown = new MeasuredSlowdown(1, nanoTime.getAsLong() - SLOWDOWN_VALID_NANOS);
  }

  @Override
  public PauseEstimate estimate(double correction) {
    return new PauseEstimate(
        JavaHeap.usage().getUsed(), JavaHeap.walksMark(), slowdown(), correction);
  }

  private double slowdown() {
    MeasuredSlowdown latest = slowdown;
    long now = nanoTime.getAsLong();
    if (now - latest.nanos() >= SLOWDOWN_VALID_NANOS) {
      latest = new MeasuredSlowdown(share.slowdown(), now);
      slowdown = latest;
    }
    return latest.slowdown();
  }

  @Override
  public double committedHeapBytes() {
    return JavaHeap.usage().getCommitted();
  }

  @Override
  public double roomBytes() {
    return limit.get().bytes() - limit.get().usedBytes();
  }
}
