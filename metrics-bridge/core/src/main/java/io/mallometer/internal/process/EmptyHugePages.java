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
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

/**
 * Estimates how much of the transparent huge pages holds nothing but zeros, by part of the resident
 * set.
 *
 * <p>The kernel counts huge pages by mapping and does not say where they lie. A huge page is
 * aligned and resident as a whole, so it is one of the blocks of which all pages are resident.
 * Pages are drawn at random from the aligned blocks of each mapping, as many as the mapping's share
 * of all huge pages, and those in a whole block are read; in the first gigabyte the whole blocks
 * are looked for before. Of k that were read z held zeros: that is z/k of the mapping's huge pages.
 * Where there are more whole blocks than huge pages, some are made of small pages; all zeros are
 * taken for those of huge pages then, which errs to the upper side.
 *
 * <p>A draw takes up to three small reads. There are at most {@value #DRAWS}, and {@value
 * #FEWEST_DRAWS} more for each of {@value #MOST_ALONE} mappings, however large the process: pages
 * of the mappings with the fewest huge pages are drawn together, as if they were one mapping. Pages
 * that are not resident are never read: that would make them so.
 */
final class EmptyHugePages {

  /** The 95 % interval is 4.3 percentage points to either side where half of the pages is zeros. */
  static final int DRAWS = 512;

  /** Blocks that are listed, a gigabyte; of more, blocks are drawn that may not be whole. */
  private static final int MOST_LISTED = 512;

  /** Mappings with draws of their own, those with the most huge pages. */
  static final int MOST_ALONE = 64;

  private static final Estimate UNKNOWN = new Estimate(Double.NaN, Double.NaN, 0);

  /** Draws from a mapping with few huge pages. */
  static final int FEWEST_DRAWS = 4;

  /** The size of a huge page where pages have 4 KiB: a table of addresses has one page. */
  private static final long BLOCK_OF_SMALL_PAGES =
      AddressSpace.PAGE * AddressSpace.PAGE / Long.BYTES;

  private final AddressSpace memory;
  private final LongFunction<ResidentPart> partAt;
  private final long blockBytes;
  private final Random random;
  private int toList = MOST_LISTED;
  private boolean anyRead;
  private boolean anyRefused;
  private final Map<ResidentPart, Long> bytes = new EnumMap<>(ResidentPart.class);
  private final Map<ResidentPart, Estimate> empty = new EnumMap<>(ResidentPart.class);

  /**
   * Prepares one estimate.
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

  /** Returns the parts with huge pages, most first. */
  List<HugePages.Part> of(List<Mapping> mappings) {
    List<Mapping> ascending =
        mappings.stream()
            .filter(mapping -> mapping.hugeBytes() > 0)
            .sorted(Comparator.comparingLong(Mapping::hugeBytes))
            .toList();
    double all = hugeBytes(ascending);
    int together = Math.max(0, ascending.size() - MOST_ALONE);
    if (together > 0) {
      add(ascending.subList(0, together), all);
    }
    for (Mapping mapping : ascending.subList(together, ascending.size())) {
      add(List.of(mapping), all);
    }
    List<HugePages.Part> parts = new ArrayList<>();
    bytes.forEach(
        (part, huge) ->
            parts.add(
                new HugePages.Part(
                    part,
                    huge,
                    anyRead || !anyRefused
                        ? capped(empty.getOrDefault(part, Estimate.ZERO), huge)
                        : UNKNOWN)));
    parts.sort(Comparator.comparingLong((HugePages.Part part) -> -part.bytes()));
    return parts;
  }

  private static long hugeBytes(List<Mapping> mappings) {
    return mappings.stream().mapToLong(Mapping::hugeBytes).sum();
  }

  private void add(List<Mapping> mappings, double hugeBytesOfAll) {
    if (blockBytes != BLOCK_OF_SMALL_PAGES) {
      // Pages have another size, and the page table is not where it is looked for.
      anyRefused = true;
      unread(mappings);
      return;
    }
    long huge = hugeBytes(mappings);
    int draws = Math.max(FEWEST_DRAWS, (int) (DRAWS * huge / hugeBytesOfAll));
    Blocks blocks = new Blocks(mappings, blockBytes);
    boolean listed = blocks.count <= toList;
    int[] candidates = listed ? wholeBlocks(blocks) : new int[0];
    int among = listed ? candidates.length : blocks.count;
    Map<ResidentPart, int[]> read = new EnumMap<>(ResidentPart.class);
    int whole = 0;
    for (int i = 0; i < draws && among > 0; i++) {
      int drawn = random.nextInt(among);
      int block = listed ? candidates[drawn] : drawn;
      long page =
          blocks.start(block)
              + random.nextInt((int) (blockBytes / AddressSpace.PAGE)) * AddressSpace.PAGE;
      if ((listed || isWhole(blocks, block)) && present(page, page + AddressSpace.PAGE)) {
        Optional<Boolean> zero = memory.isZero(page);
        anyRefused |= zero.isEmpty();
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
      unread(mappings);
      return;
    }
    double all = (double) among * blockBytes;
    boolean mixed = all * whole / draws > huge;
    double scale = mixed ? all : huge;
    int trials = mixed ? draws : whole;
    for (Map.Entry<ResidentPart, int[]> part : read.entrySet()) {
      int[] counts = part.getValue();
      bytes.merge(part.getKey(), huge * counts[0] / whole, Long::sum);
      empty.merge(part.getKey(), share(counts[1], trials, scale), Estimate::plus);
    }
  }

  private int[] wholeBlocks(Blocks blocks) {
    toList -= blocks.count;
    return IntStream.range(0, blocks.count).filter(block -> isWhole(blocks, block)).toArray();
  }

  /** No draw met a huge page: anything from none to all of it is as likely. */
  private void unread(List<Mapping> mappings) {
    Map<ResidentPart, Long> huge = new EnumMap<>(ResidentPart.class);
    for (Mapping mapping : mappings) {
      long address = Math.min(Blocks.first(mapping, blockBytes), mapping.end() - 1);
      huge.merge(partAt.apply(address), mapping.hugeBytes(), Long::sum);
    }
    huge.forEach(
        (part, all) -> {
          double of = all;
          bytes.merge(part, all, Long::sum);
          empty.merge(part, new Estimate(of / 2, of * of / 12, 0), Estimate::plus);
        });
  }

  private static Estimate capped(Estimate empty, long huge) {
    return new Estimate(Math.min(empty.value(), huge), empty.variance(), empty.samples())
        .atMost(huge);
  }

  /**
   * Returns a share with the variance of one success and one failure more, so that few draws are
   * not taken for proof.
   */
  private static Estimate share(int successes, int trials, double of) {
    double chance = (successes + 1.0) / (trials + 2.0);
    return new Estimate(
        of * successes / trials, of * of * chance * (1 - chance) / trials, successes);
  }

  /** Where all that is resident is in huge pages, each resident page is in one. */
  private boolean isWhole(Blocks blocks, int block) {
    Mapping mapping = blocks.mapping(block);
    long start = blocks.start(block);
    return present(
        start,
        start + (mapping.hugeBytes() >= mapping.residentBytes() ? AddressSpace.PAGE : blockBytes));
  }

  private boolean present(long start, long end) {
    Optional<BitSet> pages = memory.residentPages(start, end);
    anyRefused |= pages.isEmpty();
    return pages.isPresent() && pages.get().cardinality() == (end - start) / AddressSpace.PAGE;
  }

  /** The aligned blocks of some mappings, with numbers from 0. */
  private static final class Blocks {
    private final long blockBytes;
    private final NavigableMap<Integer, Mapping> byFirst = new TreeMap<>();
    private int count;

    Blocks(List<Mapping> mappings, long blockBytes) {
      this.blockBytes = blockBytes;
      for (Mapping mapping : mappings) {
        int blocks = (int) ((mapping.end() - first(mapping, blockBytes)) / blockBytes);
        if (blocks > 0) {
          byFirst.put(count, mapping);
          count += blocks;
        }
      }
    }

    static long first(Mapping mapping, long blockBytes) {
      return (mapping.start() + blockBytes - 1) / blockBytes * blockBytes;
    }

    Mapping mapping(int block) {
      return byFirst.floorEntry(block).getValue();
    }

    long start(int block) {
      Map.Entry<Integer, Mapping> of = byFirst.floorEntry(block);
      return first(of.getValue(), blockBytes) + (block - of.getKey()) * blockBytes;
    }
  }
}
