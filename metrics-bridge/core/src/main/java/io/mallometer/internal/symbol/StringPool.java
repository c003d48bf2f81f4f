package io.mallometer.internal.symbol;

import org.jspecify.annotations.Nullable;

/**
 * Keeps one string of each group of equal strings. The pool is a hash table with open addressing,
 * so its entries need no objects. Used by one thread at a time.
 */
public final class StringPool {

  private static final int LEAST_SLOTS = 256;

  private @Nullable String[] slots = new String[LEAST_SLOTS];
  private int count;

  /** Returns the pool's string that equals the argument; adds the argument if there is none. */
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

  /** Removes all strings. */
  public void clear() {
    slots = new String[LEAST_SLOTS];
    count = 0;
  }

  /** Returns the slot that contains an equal string; if there is none, the slot to put it into. */
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
