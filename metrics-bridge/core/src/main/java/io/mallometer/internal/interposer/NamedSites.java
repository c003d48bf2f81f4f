package io.mallometer.internal.interposer;

import io.mallometer.internal.symbol.SiteNaming;
import io.mallometer.internal.symbol.StringPool;
import io.mallometer.model.StackFrame;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stacks and names of call sites, by the number of the site. There are thousands, which every
 * full collection of the heap marks: so there is one object for each, its stack. Used by one thread
 * at a time.
 */
final class NamedSites {

  private static final int FEWEST = 1_024;

  private StackFrame @Nullable [][] stacks = new StackFrame[FEWEST][];
  private @Nullable String[] names = new String[FEWEST];
  private @Nullable String[] libraries = new String[FEWEST];

  /** Many sites share a name. */
  private final StringPool pool = new StringPool();

  /** Whether a site is in here. */
  boolean contains(int number) {
    return number < stacks.length && stacks[number] != null;
  }

  /** Adds or replaces a site. */
  void put(int number, List<StackFrame> stack, SiteNaming naming) {
    if (number >= stacks.length) {
      int length = Math.max(number + 1, 2 * stacks.length);
      stacks = Arrays.copyOf(stacks, length);
      names = Arrays.copyOf(names, length);
      libraries = Arrays.copyOf(libraries, length);
    }
    stacks[number] = stack.toArray(new StackFrame[0]);
    name(number, stack, naming);
  }

  private void name(int number, List<StackFrame> stack, SiteNaming naming) {
    names[number] = pool.shared(naming.name(stack));
    libraries[number] = pool.shared(naming.library(stack));
  }

  /** Names all sites by another rule. */
  void nameBy(SiteNaming naming) {
    pool.clear();
    for (int number = 0; number < stacks.length; number++) {
      if (contains(number)) {
        name(number, frames(number), naming);
      }
    }
  }

  /** Forgets a site. */
  void remove(int number) {
    stacks[number] = null;
  }

  /** The stack of a site that is in here, innermost frame first. */
  List<StackFrame> frames(int number) {
    return List.of(stacks[number]);
  }

  /** The name of a site that is in here. */
  String name(int number) {
    return names[number];
  }

  /** The library of a site that is in here. */
  String library(int number) {
    return libraries[number];
  }
}
