package io.mallometer;

import io.mallometer.internal.library.HeapGraph;
import io.mallometer.internal.library.HeapGraph.HeapObject;
import io.mallometer.internal.library.HeapGraph.Hold;
import io.mallometer.internal.library.HeapGraph.Kind;
import io.mallometer.internal.library.HeapGraph.Link;
import io.mallometer.internal.library.HeapGraph.Reference;
import io.mallometer.internal.library.OwnerSearch;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A fake search for the objects that keep ten sampled objects alive. Nine of them are held by a
 * Java object that a thread refers to.
 */
final class OwnersByHand implements OwnerSearch {

  private static final int SAMPLES = 10;

  private int links = 1;

  @Override
  public Figures begun() {
    return new Figures("", SAMPLES, 3, 0, 0, links, links, 0.2);
  }

  @Override
  public Figures step(Step step) {
    links = step == Step.REFERRERS ? 0 : 1;
    return begun();
  }

  @Override
  public HeapGraph graph() {
    return new HeapGraph(
        SAMPLES,
        0,
        IntStream.range(0, SAMPLES - 1)
            .mapToObj(i -> new Hold(i, false, 0, "com.shop.Handle", "address", 0))
            .toList(),
        List.of(
            new HeapObject(
                "com.shop.Handle",
                Kind.OTHER,
                true,
                true,
                false,
                true,
                List.of(new Link(HeapGraph.NONE, Reference.THREAD, null)))));
  }

  @Override
  public void close() {}
}
