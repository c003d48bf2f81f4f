package io.mallometer.internal.symbol;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The functions of a module by address. Holds all functions, or only those that contain a requested
 * address. Immutable.
 *
 * <p>If several symbols have one address, the table keeps the most readable: exported before local,
 * then one with a size, then fewer leading underscores, then the shorter name.
 */
final class SymbolTable {

  /** The symbol of a function, and the first address of the function in the file. */
  record Symbol(String name, long address) {}

  /** The bytes of a function whose symbol has no size, unless the next function begins earlier. */
  private static final int PAGE_BYTES = 4_096;

  /**
   * The method {@link #at} examines at most this many functions that begin before an address. The
   * nearest of them may be too short to contain the address, while an earlier and longer function
   * does.
   */
  private static final int MOST_STEPS_BACK = 16;

  private final int[] starts;
  private final int[] sizes;
  private final int[] nameStarts;
  private final byte[] names;

  /** The requested addresses, in ascending order; null for all. */
  private final long @Nullable [] asked;

  /**
   * The start of the last function before each requested address, even if that function is not in
   * this table.
   */
  private final long[] nearest;

  private SymbolTable(
      int[] starts,
      int[] sizes,
      int[] nameStarts,
      byte[] names,
      long @Nullable [] asked,
      long[] nearest) {
    this.asked = asked;
    this.nearest = nearest;
    this.starts = starts;
    this.sizes = sizes;
    this.nameStarts = nameStarts;
    this.names = names;
  }

  int size() {
    return starts.length;
  }

  long bytes() {
    return 12L * starts.length + names.length + 16L * nearest.length + 128;
  }

  /**
   * Returns whether the table was built for this address. An empty result of {@link #at} then means
   * that no function contains the address.
   */
  boolean answers(long address) {
    return asked == null || Arrays.binarySearch(asked, address) >= 0;
  }

  /**
   * Returns the function that contains an address. A function without a size ends at the start of
   * the next function, or after 4 KiB.
   */
  Optional<Symbol> at(long address) {
    if (address < 0 || address > Integer.MAX_VALUE || !answers(address)) {
      return Optional.empty();
    }
    int found = Arrays.binarySearch(starts, (int) address);
    int nearest = found >= 0 ? found : -found - 2;
    for (int i = nearest; i >= 0 && i > nearest - MOST_STEPS_BACK; i--) {
      boolean sizeless = sizes[i] == 0 && i == nearest && isNearest(starts[i], address);
      if (address - starts[i] < (sizeless ? PAGE_BYTES : sizes[i])) {
        return Optional.of(new Symbol(name(nameStarts[i]), starts[i]));
      }
    }
    return Optional.empty();
  }

  private boolean isNearest(int start, long address) {
    return asked == null || nearest[Arrays.binarySearch(asked, address)] == start;
  }

  private String name(int start) {
    int end = start;
    while (names[end] != 0) {
      end++;
    }
    return new String(names, start, end - start, StandardCharsets.UTF_8);
  }

  /**
   * Builds a table from the symbol tables of a file. For each of them, the caller first adds all
   * symbols and then calls {@link #name}.
   */
  static final class Builder {

    private static final int FUNCTION = 2;
    private static final int INDIRECT_FUNCTION = 10;
    private static final int LOCAL = 0;

    private static final int MOST_FUNCTIONS = 1 << 20;

    /** The longest name, in bytes. Functions with longer names are left out. */
    private static final int MOST_NAME_BYTES = 4_096;

    private static final int WINDOW_BYTES = 1 << 16;

    /**
     * Limits how often {@link #name} reads a part of a damaged file. Without a limit, names without
     * an end would cause a new read for each symbol.
     */
    private static final int MOST_WINDOWS = 4_096;

    private final int mostNamesBytes;
    private final long @Nullable [] asked;

    /**
     * Element {@code i} is the start of the last function that begins at or before requested
     * address {@code i}, but after requested address {@code i - 1}; 0 if there is no such function.
     */
    private final long[] nearest;

    /**
     * Element {@code i} states whether page {@code i} of the module, or the page after it, contains
     * a requested address. Null if all functions are requested.
     */
    private final boolean @Nullable [] near;

    private boolean hasFunctions;
    private int[] starts = new int[256];
    private int[] sizes = new int[256];

    /** The offset of each name in the file's string table, unsigned. */
    private int[] nameOffsets = new int[256];

    private int[] nameStarts = new int[256];
    private int[] nameLengths = new int[256];
    private byte[] bindings = new byte[256];
    private int count;
    private int named;
    private byte[] names = new byte[4_096];
    private int namesBytes;

    /** The part of the file's string table that was read last. */
    private byte[] window = new byte[0];

    private long windowStart;
    private int windowLength;
    private int windowsLeft;

    Builder(int mostNamesBytes) {
      this(mostNamesBytes, null);
    }

    /**
     * Creates a builder of a table for requested addresses.
     *
     * @param asked the addresses, in ascending order; null for all functions
     */
    Builder(int mostNamesBytes, long @Nullable [] asked) {
      this.mostNamesBytes = mostNamesBytes;
      this.asked = asked;
      this.nearest = new long[asked == null ? 0 : asked.length];
      this.near = asked == null ? null : near(asked);
    }

    private static boolean[] near(long[] addresses) {
      int count = addresses.length;
      while (count > 0 && addresses[count - 1] > Integer.MAX_VALUE) {
        count--;
      }
      boolean[] near = new boolean[count == 0 ? 0 : page(addresses[count - 1]) + 1];
      for (int i = 0; i < count; i++) {
        int page = page(addresses[i]);
        near[page] = true;
        near[Math.max(0, page - 1)] = true;
      }
      return near;
    }

    private static int page(long address) {
      return (int) (Math.max(0, address) / PAGE_BYTES);
    }

    /**
     * Returns whether a function that begins on this page, and is smaller than a page, may contain
     * a requested address.
     */
    boolean isNear(int page) {
      return near == null || page < near.length && near[page];
    }

    /** Records that the file has a function, even if the function is not added. */
    void noteFunction() {
      hasFunctions = true;
    }

    /** Returns whether the file has no function at all, requested or not. */
    boolean isEmpty() {
      return !hasFunctions;
    }

    static boolean isFunction(int info) {
      int type = info & 0xf;
      return type == FUNCTION || type == INDIRECT_FUNCTION;
    }

    /**
     * Adds a symbol if it is a function that may contain a requested address.
     *
     * @param name the offset of the name in the file's string table
     */
    void add(int info, long address, long size, long name) {
      if (!isFunction(info)
          || address <= 0
          || address > Integer.MAX_VALUE
          || name == 0
          || count == MOST_FUNCTIONS) {
        return;
      }
      hasFunctions = true;
      if (asked != null && !isAskedFor(asked, address, size)) {
        return;
      }
      if (count == starts.length) {
        grow(count * 2);
      }
      starts[count] = (int) address;
      sizes[count] = (int) Math.max(0, Math.min(size, Integer.MAX_VALUE - address));
      nameOffsets[count] = (int) name;
      bindings[count] = (byte) (info >> 4);
      count++;
    }

    /**
     * Returns whether a function may contain a requested address. Also updates {@link #nearest}.
     */
    private boolean isAskedFor(long[] addresses, long start, long size) {
      int found = Arrays.binarySearch(addresses, start);
      int first = found < 0 ? -found - 1 : found;
      if (first == addresses.length) {
        return false;
      }
      boolean near = start >= nearest[first];
      nearest[first] = near ? start : nearest[first];
      return size == 0 ? near : addresses[first] - start < size;
    }

    private void grow(int length) {
      starts = Arrays.copyOf(starts, length);
      sizes = Arrays.copyOf(sizes, length);
      nameOffsets = Arrays.copyOf(nameOffsets, length);
      nameStarts = Arrays.copyOf(nameStarts, length);
      nameLengths = Arrays.copyOf(nameLengths, length);
      bindings = Arrays.copyOf(bindings, length);
    }

    /** Reads the names of all symbols that were added since the last call, in one pass. */
    void name(Bytes bytes, long strings, long stringsBytes) {
      windowStart = 0;
      windowLength = 0;
      windowsLeft = MOST_WINDOWS;
      window = new byte[WINDOW_BYTES];
      for (int symbol : order(nameOffsets, named, count)) {
        long offset = Integer.toUnsignedLong(nameOffsets[symbol]);
        nameStarts[symbol] =
            offset < stringsBytes ? copy(bytes, strings, offset, stringsBytes) : -1;
        nameLengths[symbol] = namesBytes - 1 - nameStarts[symbol];
      }
      window = new byte[0];
      named = count;
    }

    private int copy(Bytes bytes, long strings, long offset, long stringsBytes) {
      int length = lengthInWindow(offset);
      if (length < 0 && windowsLeft-- > 0) {
        windowStart = offset;
        windowLength = (int) Math.min(WINDOW_BYTES, stringsBytes - offset);
        if (!bytes.read(strings + offset, window, windowLength)) {
          windowLength = 0;
        }
        length = lengthInWindow(offset);
      }
      if (length <= 0 || length > MOST_NAME_BYTES || namesBytes + length >= mostNamesBytes) {
        return -1;
      }
      if (namesBytes + length >= names.length) {
        names = Arrays.copyOf(names, Math.min(mostNamesBytes, names.length * 2 + length));
      }
      int start = namesBytes;
      System.arraycopy(window, (int) (offset - windowStart), names, start, length);
      names[start + length] = 0;
      namesBytes += length + 1;
      return start;
    }

    private int lengthInWindow(long offset) {
      int start = (int) Math.min(offset - windowStart, windowLength);
      for (int at = start; at < windowLength; at++) {
        if (window[at] == 0) {
          return at - start;
        }
      }
      return -1;
    }

    SymbolTable build() {
      int[] chosen = new int[named];
      int kept = 0;
      for (int symbol : order(starts, 0, named)) {
        if (nameStarts[symbol] < 0) {
          continue;
        }
        if (kept > 0 && starts[chosen[kept - 1]] == starts[symbol]) {
          chosen[kept - 1] = better(chosen[kept - 1], symbol);
        } else {
          chosen[kept++] = symbol;
        }
      }
      return compact(Arrays.copyOf(chosen, kept));
    }

    /** Returns the indexes of a range, sorted by their unsigned keys. */
    private static int[] order(int[] keys, int from, int to) {
      long[] sorted = new long[to - from];
      for (int i = from; i < to; i++) {
        sorted[i - from] = (long) (keys[i] ^ Integer.MIN_VALUE) << Integer.SIZE | i;
      }
      Arrays.sort(sorted);
      int[] order = new int[sorted.length];
      for (int i = 0; i < order.length; i++) {
        order[i] = (int) sorted[i];
      }
      return order;
    }

    private SymbolTable compact(int[] chosen) {
      int[] keptStarts = new int[chosen.length];
      int[] keptSizes = new int[chosen.length];
      int[] keptNameStarts = new int[chosen.length];
      int length = 0;
      for (int symbol : chosen) {
        length += length(symbol) + 1;
      }
      byte[] keptNames = new byte[length];
      int at = 0;
      for (int i = 0; i < chosen.length; i++) {
        int nameLength = length(chosen[i]);
        keptStarts[i] = starts[chosen[i]];
        keptSizes[i] = sizes[chosen[i]];
        keptNameStarts[i] = at;
        System.arraycopy(names, nameStarts[chosen[i]], keptNames, at, nameLength);
        at += nameLength + 1;
      }
      long[] known = nearest.clone();
      for (int i = 1; i < known.length; i++) {
        known[i] = Math.max(known[i], known[i - 1]);
      }
      return new SymbolTable(keptStarts, keptSizes, keptNameStarts, keptNames, asked, known);
    }

    private int better(int one, int other) {
      int difference = Integer.compare(rank(one), rank(other));
      if (difference == 0) {
        difference = Integer.compare(underscores(one), underscores(other));
      }
      if (difference == 0) {
        difference = Integer.compare(length(one), length(other));
      }
      if (difference == 0) {
        difference =
            Arrays.compare(
                names,
                nameStarts[one],
                nameStarts[one] + length(one),
                names,
                nameStarts[other],
                nameStarts[other] + length(other));
      }
      return difference <= 0 ? one : other;
    }

    private int rank(int symbol) {
      return (bindings[symbol] == LOCAL ? 2 : 0) + (sizes[symbol] > 0 ? 0 : 1);
    }

    private int underscores(int symbol) {
      int start = nameStarts[symbol];
      int at = start;
      while (names[at] == '_') {
        at++;
      }
      return at - start;
    }

    private int length(int symbol) {
      return nameLengths[symbol];
    }
  }
}
