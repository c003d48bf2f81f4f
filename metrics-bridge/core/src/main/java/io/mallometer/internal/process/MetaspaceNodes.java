package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Finds the mappings of class metadata.
 *
 * <p>The JVM reserves nodes: ranges that start at a multiple of 16 MiB and are as large as the
 * class space or 64 MiB. A part of each node is committed, in granules of 64 KiB. The first granule
 * is committed. In the class space, the first granule may be protected instead; the second one is
 * then committed.
 *
 * <p>Other memory may have this shape by chance, and the kernel may join a node to its neighbours.
 * So candidates count as nodes if their committed bytes add up to the sum that the JVM reports.
 */
final class MetaspaceNodes {

  private static final long ALIGNMENT = 16L << 20;
  private static final long NODE = 64L << 20;
  private static final long GRANULE = 64L << 10;

  /** The largest number of nodes: 64 GiB of metadata. */
  private static final int MOST = 1_024;

  private static final int MOST_STEPS = 50_000;

  /**
   * The most bytes that the JVM can commit between the reading of the mappings and its report of
   * committed sizes.
   */
  private static final long TOLERANCE = 4L << 20;

  /**
   * A range that may contain class metadata. Those candidates are chosen whose committed bytes add
   * up to the sum that the JVM reports. If no candidates add up to this sum, {@code beginsMapping}
   * decides.
   */
  private record Candidate(Range range, long committed, boolean beginsMapping) {}

  private final List<Candidate> candidates;
  private final int most;

  /**
   * The difference between the committed bytes of {@link #best} and the committed bytes that the
   * JVM reports. {@code best} is the set of candidates with the smallest difference so far.
   */
  private long missing = Long.MAX_VALUE;

  private List<Range> best = List.of();
  private int steps;

  private MetaspaceNodes(List<Candidate> candidates, int most) {
    this.candidates = candidates;
    this.most = most;
  }

  /**
   * Returns the compressed class space.
   *
   * @param mappings the mappings, without those that are known to be other memory
   */
  static List<Range> classSpace(List<Mapping> mappings, Metadata metadata) {
    return metadata.classSpaceReserved().isPresent()
        ? find(
            mappings, metadata.classSpaceReserved().getAsLong(), metadata.classSpaceCommitted(), 1)
        : List.of();
  }

  /** Returns the ranges of class metadata outside of the class space. */
  static List<Range> others(List<Mapping> mappings, Metadata metadata) {
    return find(mappings, NODE, metadata.othersCommitted(), MOST);
  }

  private static List<Range> find(
      List<Mapping> mappings, long bytes, OptionalLong committed, int most) {
    MetaspaceNodes nodes = new MetaspaceNodes(candidates(mappings, bytes), most);
    if (committed.isPresent()) {
      nodes.choose(0, committed.getAsLong(), new ArrayList<>());
    }
    return nodes.missing <= TOLERANCE ? nodes.best : nodes.inDoubt();
  }

  private void choose(int number, long remaining, List<Range> taken) {
    if (Math.abs(remaining) < missing) {
      missing = Math.abs(remaining);
      best = List.copyOf(taken);
    }
    if (number == candidates.size() || missing == 0 || steps++ > MOST_STEPS) {
      return;
    }
    Candidate candidate = candidates.get(number);
    boolean free = taken.isEmpty() || last(taken).end() <= candidate.range().start();
    if (free && taken.size() < most && candidate.committed() <= remaining + TOLERANCE) {
      taken.add(candidate.range());
      choose(number + 1, remaining - candidate.committed(), taken);
      taken.remove(taken.size() - 1);
    }
    choose(number + 1, remaining, taken);
  }

  private List<Range> inDoubt() {
    List<Range> taken = new ArrayList<>();
    for (Candidate candidate : candidates) {
      boolean begins =
          candidate.beginsMapping()
              || !taken.isEmpty() && last(taken).end() == candidate.range().start();
      if (begins
          && taken.size() < most
          && (taken.isEmpty() || last(taken).end() <= candidate.range().start())) {
        taken.add(candidate.range());
      }
    }
    return taken;
  }

  private static Range last(List<Range> ranges) {
    return ranges.get(ranges.size() - 1);
  }

  /**
   * Returns the ranges that may be nodes (areas of class metadata), ascending by address. They can
   * overlap.
   */
  private static List<Candidate> candidates(List<Mapping> mappings, long bytes) {
    List<Candidate> found = new ArrayList<>();
    for (int i = 0; i < mappings.size(); i++) {
      Mapping first = mappings.get(i);
      if (!first.committed()) {
        continue;
      }
      if ((first.start() - GRANULE) % ALIGNMENT == 0) {
        add(
            found,
            mappings,
            i,
            new Range(first.start() - GRANULE, first.start() - GRANULE + bytes));
      }
      long start = (first.start() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      for (; start < first.end() && found.size() < MOST; start += ALIGNMENT) {
        add(found, mappings, i, new Range(start, start + bytes));
      }
    }
    return found;
  }

  /**
   * Adds a range if it has the shape of a node (an area of class metadata).
   *
   * @param index the index of the first committed mapping that overlaps the range
   */
  private static void add(List<Candidate> to, List<Mapping> mappings, int index, Range range) {
    Mapping last = mappings.get(index);
    long committed = Math.min(last.end(), range.end()) - Math.max(last.start(), range.start());
    for (int i = index + 1; last.end() < range.end(); i++) {
      if (i == mappings.size() || !mappings.get(i).startsAtEndOf(last)) {
        return;
      }
      last = mappings.get(i);
      boolean granules = last.committed() && last.start() % GRANULE == 0;
      if (!granules && !last.reserved()) {
        return;
      }
      committed += granules ? Math.min(last.end(), range.end()) - last.start() : 0;
    }
    boolean beginsMapping = mappings.get(index).start() >= range.start();
    to.add(new Candidate(range, committed, beginsMapping));
  }
}
