package io.mallometer.internal.library.abi;

import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.symbol.SiteNaming;
import io.mallometer.internal.symbol.StringPool;
import io.mallometer.model.StackFrame;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stacks and names of call sites, by the number of the site. They are in arrays instead of
 * objects, because every full garbage collection has to mark the objects of thousands of sites. A
 * new site takes the place of one that the library has forgotten. Not thread-safe.
 */
final class NamedSites {

  private static final int FEWEST = 1_024;

  private StackFrame @Nullable [][] stacks = new StackFrame[FEWEST][];
  private int[] numbers = new int[FEWEST];
  private @Nullable String[] names = new String[FEWEST];
  private @Nullable String[] libraries = new String[FEWEST];

  /**
   * The names, which many sites share. Cleared after every {@link SampledObject#MOST_SITES}
   * replaced sites, to stay small.
   */
  private final StringPool pool = new StringPool();

  private int replaced;

  boolean contains(int number) {
    int place = SampledObject.arrayIndex(number);
    return place < stacks.length && stacks[place] != null && numbers[place] == number;
  }

  void put(int number, List<StackFrame> stack, SiteNaming naming) {
    int place = SampledObject.arrayIndex(number);
    if (place >= stacks.length) {
      int length = Math.max(place + 1, 2 * stacks.length);
      stacks = Arrays.copyOf(stacks, length);
      numbers = Arrays.copyOf(numbers, length);
      names = Arrays.copyOf(names, length);
      libraries = Arrays.copyOf(libraries, length);
    }
    if (stacks[place] != null
        && numbers[place] != number
        && ++replaced % SampledObject.MOST_SITES == 0) {
      pool.clear();
    }
    stacks[place] = stack.toArray(new StackFrame[0]);
    numbers[place] = number;
    name(place, stack, naming);
  }

  private void name(int place, List<StackFrame> stack, SiteNaming naming) {
    names[place] = pool.shared(naming.name(stack));
    libraries[place] = pool.shared(naming.library(stack));
  }

  void nameBy(SiteNaming naming) {
    pool.clear();
    for (int place = 0; place < stacks.length; place++) {
      if (stacks[place] != null) {
        name(place, List.of(stacks[place]), naming);
      }
    }
  }

  void remove(int number) {
    if (contains(number)) {
      stacks[SampledObject.arrayIndex(number)] = null;
    }
  }

  List<StackFrame> frames(int number) {
    return List.of(stacks[SampledObject.arrayIndex(number)]);
  }

  String name(int number) {
    return names[SampledObject.arrayIndex(number)];
  }

  String library(int number) {
    return libraries[SampledObject.arrayIndex(number)];
  }
}
