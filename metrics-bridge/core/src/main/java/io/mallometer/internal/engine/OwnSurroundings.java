package io.mallometer.internal.engine;

import io.mallometer.internal.owner.PauseEstimate;
import io.mallometer.internal.process.JavaHeap;
import io.mallometer.internal.process.ProcessorShare;
import io.mallometer.model.Conclusion.Limit;
import java.util.function.Supplier;

/** The heap, the processors and the limit of this process. */
final class OwnSurroundings implements OwnerSearches.Surroundings {

  private final Supplier<Limit> limit;

  OwnSurroundings(Supplier<Limit> limit) {
    this.limit = limit;
  }

  @Override
  public PauseEstimate estimate(double correction) {
    return new PauseEstimate(
        JavaHeap.usage().getUsed(), JavaHeap.walksMark(), ProcessorShare.slowdown(), correction);
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
