package io.mallometer.internal.process;

import io.mallometer.model.Estimate;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentPart;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

/**
 * How much of the transparent huge pages holds nothing but zeros, by part of the resident set.
 *
 * <p>The kernel counts huge pages by mapping and does not say where they lie. A huge page is
 * aligned and resident as a whole, so it is one of the blocks of which all pages are resident.
 * Pages are drawn at random from the aligned blocks of each mapping, as many as the mapping's share
 * of all huge pages, and those in a whole block are read; in the first gigabyte the whole blocks
 * are looked for before. Of k that were read z held zeros: that is z/k of the mapping's huge pages.
 * Where there are more whole blocks than huge pages, some are made of small pages; all zeros are
 * taken for those of huge pages then, which errs to the upper side.
 *
 * <p>A draw takes two small reads, so {@value #DRAWS} of them take some milliseconds, however large
 * the process. Pages that are not resident are never read: that would make them so.
 */
final class EmptyHugePages {

  /** Half a percentage point of error in a hundred, five at worst. */
  static final int DRAWS = 512;

  /**
   * Of a gigabyte, in all mappings; in larger ones blocks are drawn of which many are not whole.
   */
  private static final int MOST_LISTED = 512;

  private static final Estimate UNKNOWN = new Estimate(Double.NaN, Double.NaN, 0);

  /** From each mapping with huge pages. */
  private static final int FEWEST_DRAWS = 4;

  private final AddressSpace memory;
  private final LongFunction<ResidentPart> partAt;
  private final long blockBytes;
  private final Random random;
  private int toList = MOST_LISTED;
  private boolean anyRead;
  private final Map<ResidentPart, Long> bytes = new EnumMap<>(ResidentPart.class);
  private final Map<ResidentPart, Estimate> empty = new EnumMap<>(ResidentPart.class);

  /**
   * Of a process.
   *
   * @param partAt the part that an address belongs to
   * @param blockBytes the size of a huge page
   */
  EmptyHugePages(
      AddressSpace memory, LongFunction<ResidentPart> partAt, long blockBytes, Random random) {
    this.memory = memory;
    this.partAt = partAt;
    this.blockBytes = blockBytes;
    this.random = random;
  }

  /** The parts with huge pages, most first. */
  List<HugePages.Part> of(List<Mapping> mappings) {
    long all = mappings.stream().mapToLong(mapping -> Math.max(0, mapping.hugeBytes())).sum();
    for (Mapping mapping : mappings) {
      if (mapping.hugeBytes() > 0) {
        int draws = (int) (DRAWS * (double) mapping.hugeBytes() / all);
        add(mapping, Math.max(FEWEST_DRAWS, draws));
      }
    }
    List<HugePages.Part> parts = new ArrayList<>();
    bytes.forEach(
        (part, huge) ->
            parts.add(
                new HugePages.Part(
                    part,
                    huge,
                    anyRead ? capped(empty.getOrDefault(part, Estimate.ZERO), huge) : UNKNOWN)));
    parts.sort(Comparator.comparingLong((HugePages.Part part) -> -part.bytes()));
    return parts;
  }

  private void add(Mapping mapping, int draws) {
    long first = Math.floorDiv(mapping.start() + blockBytes - 1, blockBytes) * blockBytes;
    int blocks = (int) Math.max(0, (mapping.end() - first) / blockBytes);
    boolean listed = blocks <= toList;
    long[] candidates = listed ? wholeBlocks(mapping, first, blocks) : new long[0];
    int among = listed ? candidates.length : blocks;
    Map<ResidentPart, int[]> read = new EnumMap<>(ResidentPart.class);
    int whole = 0;
    for (int i = 0; i < draws && among > 0; i++) {
      int drawn = random.nextInt(among);
      long block = listed ? candidates[drawn] : first + drawn * blockBytes;
      long page =
          block + random.nextInt((int) (blockBytes / AddressSpace.PAGE)) * AddressSpace.PAGE;
      if ((listed || isWhole(mapping, block)) && present(page, page + AddressSpace.PAGE)) {
        Optional<Boolean> zero = memory.isZero(page);
        if (zero.isPresent()) {
          int[] counts = read.computeIfAbsent(partAt.apply(page), part -> new int[2]);
          counts[0]++;
          counts[1] += zero.get() ? 1 : 0;
          whole++;
          anyRead = true;
        }
      }
    }
    if (whole == 0) {
      unread(mapping, Math.max(first, mapping.start()));
      return;
    }
    double all = (double) among * blockBytes;
    boolean mixed = all * whole / draws > mapping.hugeBytes();
    double scale = mixed ? all : mapping.hugeBytes();
    int trials = mixed ? draws : whole;
    for (Map.Entry<ResidentPart, int[]> part : read.entrySet()) {
      int[] counts = part.getValue();
      bytes.merge(part.getKey(), mapping.hugeBytes() * counts[0] / whole, Long::sum);
      empty.merge(part.getKey(), share(counts[1], trials, scale), Estimate::plus);
    }
  }

  private long[] wholeBlocks(Mapping mapping, long first, int blocks) {
    toList -= blocks;
    return LongStream.range(0, blocks)
        .map(block -> first + block * blockBytes)
        .filter(block -> isWhole(mapping, block))
        .toArray();
  }

  /** No draw met a huge page: anything from none to all of it is as likely. */
  private void unread(Mapping mapping, long address) {
    double huge = mapping.hugeBytes();
    bytes.merge(partAt.apply(address), mapping.hugeBytes(), Long::sum);
    empty.merge(partAt.apply(address), new Estimate(huge / 2, huge * huge / 12, 0), Estimate::plus);
  }

  private static Estimate capped(Estimate empty, long huge) {
    return new Estimate(Math.min(empty.value(), huge), empty.variance(), empty.samples())
        .atMost(huge);
  }

  /**
   * The variance by one success and one failure more, so that few draws are not taken for proof.
   */
  private static Estimate share(int successes, int trials, double of) {
    double chance = (successes + 1.0) / (trials + 2.0);
    return new Estimate(
        of * successes / trials, of * of * chance * (1 - chance) / trials, successes);
  }

  /** Where all that is resident is in huge pages, each resident page is in one. */
  private boolean isWhole(Mapping mapping, long block) {
    return present(
        block,
        block + (mapping.hugeBytes() >= mapping.residentBytes() ? AddressSpace.PAGE : blockBytes));
  }

  private boolean present(long start, long end) {
    Optional<BitSet> pages = memory.residentPages(start, end);
    return pages.isPresent() && pages.get().cardinality() == (end - start) / AddressSpace.PAGE;
  }
}
