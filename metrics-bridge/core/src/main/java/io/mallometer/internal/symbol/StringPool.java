package io.mallometer.internal.symbol;

import org.jspecify.annotations.Nullable;

/**
 * Keeps one string of each group of equal strings. Open addressing avoids an object for each entry.
 * Used by one thread at a time.
 */
public final class StringPool {

  private static final int LEAST_SLOTS = 256;

  private @Nullable String[] slots = new String[LEAST_SLOTS];
  private int count;

  /**
   * Returns the string of the pool that equals the argument. Adds the argument if there is none.
   */
  public String shared(String string) {
    int slot = slot(string);
    String known = slots[slot];
    if (known != null) {
      return known;
    }
    slots[slot] = string;
    count++;
    if (2 * count > slots.length) {
      grow();
    }
    return string;
  }

  public void clear() {
    slots = new String[LEAST_SLOTS];
    count = 0;
  }

  private int slot(String string) {
    int mask = slots.length - 1;
    int hash = string.hashCode();
    int slot = (hash ^ hash >>> 16) & mask;
    for (String known = slots[slot]; known != null && !known.equals(string); known = slots[slot]) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    @Nullable String[] old = slots;
    slots = new String[2 * old.length];
    for (String string : old) {
      if (string != null) {
        slots[slot(string)] = string;
      }
    }
  }
}
