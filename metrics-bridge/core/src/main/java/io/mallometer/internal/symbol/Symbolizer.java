package io.mallometer.internal.symbol;

import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Names recorded frames. If a call is the last instruction of a function, its return address lies
 * behind the function. So the byte before the return address is looked up.
 *
 * <p>Thread-safe. Never throws, whatever the modules contain.
 */
public final class Symbolizer {

  /** Stands for the class of a method that was unloaded before it was named. */
  public static final String UNLOADED = "[unloaded]";

  private static final StackFrame UNNAMED = StackFrame.ofJava(UNLOADED, "[method]", "", 0);

  /**
   * The largest number of named frames that are remembered, in about 3 MiB. When there are more,
   * all are forgotten.
   */
  private static final int MOST_FRAMES = 16_384;

  private static final int STACKS_AT_ONCE = 64;

  private static final int LOOKED_UP_AT_LEAST = 4_096;

  private final Modules modules;
  private final IntFunction<Optional<RecordedMethod>> methods;
  private final ModuleSymbols symbols;
  private FrameTable known = new FrameTable();

  /** The value of {@link Modules#changes} for which {@link #known} is valid. */
  private int changes;

  private final StringPool names = new StringPool();

  /**
   * Creates a symbolizer.
   *
   * @param methods finds the method with a number; a number always means the same method
   * @param images the sources of the modules' bytes
   */
  public Symbolizer(
      Modules modules, IntFunction<Optional<RecordedMethod>> methods, ModuleImages images) {
    this.modules = modules;
    this.methods = methods;
    this.symbols = new ModuleSymbols(images);
  }

  public synchronized List<StackFrame> frames(long[] recorded) {
    return frames(List.of(recorded)).get(0);
  }

  /**
   * Returns the named frames of many stacks.
   *
   * <p>One loop looks up addresses, and another loop names them. With a single loop for both, the
   * JIT compiler would spend seconds on inlining all of the code into it.
   */
  public synchronized List<List<StackFrame>> frames(List<long[]> stacks) {
    List<List<StackFrame>> named = new ArrayList<>(stacks.size());
    forgetIfChanged();
    lookUp(stacks);
    for (int first = 0; first < stacks.size(); first += STACKS_AT_ONCE) {
      List<long[]> some = stacks.subList(first, Math.min(first + STACKS_AT_ONCE, stacks.size()));
      if (forgetIfChanged()) {
        lookUp(stacks.subList(first, stacks.size()));
      }
      for (long recorded : unknown(some)) {
        if (!isKnown(recorded)) {
          known.put(recorded, name(recorded));
        }
      }
      for (long[] stack : some) {
        named.add(known.frames(stack));
      }
    }
    return named;
  }

  /**
   * Returns the build ids by the names of libraries. Omits a name if modules with this name have
   * different build ids.
   */
  public synchronized Map<String, String> buildIds(List<RecordedModule> asked) {
    Map<String, String> ids = new HashMap<>();
    for (RecordedModule module : asked) {
      ids.merge(
          symbols.library(module), module.buildId(), (one, other) -> one.equals(other) ? one : "");
    }
    ids.values().removeIf(String::isEmpty);
    return ids;
  }

  private boolean forgetIfChanged() {
    if (known.count() <= MOST_FRAMES && modules.changes() == changes) {
      return false;
    }
    changes = modules.changes();
    known = new FrameTable();
    names.clear();
    return true;
  }

  private void lookUp(List<long[]> stacks) {
    long[] addresses = new long[LOOKED_UP_AT_LEAST];
    int count = 0;
    for (long[] stack : stacks) {
      for (long recorded : stack) {
        if (!RecordedFrame.isJava(recorded) && !isKnown(recorded)) {
          if (count == addresses.length) {
            count = distinct(addresses, count);
            addresses = Arrays.copyOf(addresses, Math.max(addresses.length, 2 * count));
          }
          addresses[count++] = recorded - 1;
        }
      }
    }
    lookUp(addresses, distinct(addresses, count));
  }

  private void lookUp(long[] addresses, int count) {
    int first = 0;
    while (first < count) {
      @Nullable RecordedModule module = modules.at(addresses[first]).orElse(null);
      int end = first + 1;
      while (end < count && module != null && isIn(module, addresses[end])) {
        end++;
      }
      if (module != null) {
        symbols.lookUp(module, Arrays.copyOfRange(addresses, first, end));
      }
      first = end;
    }
  }

  /**
   * Returns whether an address belongs to a module. The range of the module is not compared with
   * the address, because a module that was loaded later may overlap the range.
   */
  private boolean isIn(RecordedModule module, long address) {
    return module.equals(modules.at(address).orElse(null));
  }

  /** Sorts the first {@code count} numbers and drops duplicates. Returns how many numbers stay. */
  private static int distinct(long[] numbers, int count) {
    Arrays.sort(numbers, 0, count);
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (kept == 0 || numbers[i] != numbers[kept - 1]) {
        numbers[kept++] = numbers[i];
      }
    }
    return kept;
  }

  private long[] unknown(List<long[]> stacks) {
    long[] unknown = new long[64];
    int count = 0;
    for (long[] stack : stacks) {
      for (long recorded : stack) {
        if (!isKnown(recorded)) {
          unknown = count == unknown.length ? Arrays.copyOf(unknown, 2 * count) : unknown;
          unknown[count++] = recorded;
        }
      }
    }
    return Arrays.copyOf(unknown, count);
  }

  /**
   * Returns whether a frame has its final name. A method that has no name yet may get one later.
   */
  private boolean isKnown(long recorded) {
    StackFrame named = known.get(recorded);
    return named != null && named != UNNAMED;
  }

  private StackFrame name(long recorded) {
    return RecordedFrame.isJava(recorded)
        ? java(recorded)
        : nativeCode(recorded, modules.at(recorded - 1).orElse(null));
  }

  private StackFrame java(long recorded) {
    Optional<RecordedMethod> method = methods.apply(RecordedFrame.method(recorded));
    if (method.isEmpty()) {
      return UNNAMED;
    }
    StackFrame named = java(method.get(), RecordedFrame.bytecodeIndex(recorded));
    return RecordedFrame.isCompiled(recorded) ? named.asCompiled() : named;
  }

  private static StackFrame java(RecordedMethod method, int bytecodeIndex) {
    return StackFrame.ofJava(
        JavaNames.ofClass(method.className()),
        JavaNames.ofMethod(method.method()),
        method.source(),
        line(method.lines(), bytecodeIndex));
  }

  private static int line(int[] lines, int bytecodeIndex) {
    int line = 0;
    int start = -1;
    for (int i = 0; i + 1 < lines.length && bytecodeIndex >= 0; i += 2) {
      if (lines[i] <= bytecodeIndex && lines[i] >= start) {
        start = lines[i];
        line = lines[i + 1];
      }
    }
    return line;
  }

  private StackFrame nativeCode(long returnAddress, @Nullable RecordedModule module) {
    if (module == null) {
      return StackFrame.ofLibrary("", "", returnAddress);
    }
    String library = symbols.library(module);
    long address = returnAddress - module.bias();
    Optional<SymbolTable.Symbol> found = symbols.symbol(module, returnAddress - 1);
    if (found.isEmpty()) {
      return StackFrame.ofLibrary(library, "", address);
    }
    SymbolTable.Symbol symbol = found.get();
    return StackFrame.ofLibrary(library, nameOf(symbol), address - symbol.address());
  }

  private String nameOf(SymbolTable.Symbol symbol) {
    return names.shared(SymbolName.of(symbol.name()));
  }
}
