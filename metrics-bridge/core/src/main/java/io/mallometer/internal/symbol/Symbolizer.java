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
 * Names recorded frames. A native frame is a return address. If a call is the last instruction of a
 * function, the return address lies behind the function. So the symbolizer looks up the function
 * one byte before the return address. Named frames are kept, so a known stack takes only a look-up
 * for each frame.
 *
 * <p>Thread-safe. Never throws for what the modules contain.
 */
public final class Symbolizer {

  /** The name in place of the class of a method that was unloaded before it was named. */
  public static final String UNLOADED = "[unloaded]";

  private static final StackFrame UNNAMED = StackFrame.ofJava(UNLOADED, "[method]", "", 0);

  /**
   * The largest number of named frames that are stored, about 3 MiB. Once there are more, all
   * frames are dropped.
   */
  private static final int MOST_FRAMES = 16_384;

  private static final int STACKS_AT_ONCE = 64;

  private static final int LOOKED_UP_AT_LEAST = 4_096;

  private final Modules modules;
  private final IntFunction<Optional<RecordedMethod>> methods;
  private final ModuleSymbols symbols;
  private FrameTable known = new FrameTable();

  /** The value of {@link Modules#changes} when the known frames were named. */
  private int changes;

  /** The names of the functions in {@link #known}. */
  private final StringPool names = new StringPool();

  /**
   * Creates a symbolizer.
   *
   * @param modules the modules of the process
   * @param methods finds the method of a number; a number always means the same method
   * @param images the sources of the modules' bytes
   */
  public Symbolizer(
      Modules modules, IntFunction<Optional<RecordedMethod>> methods, ModuleImages images) {
    this.modules = modules;
    this.methods = methods;
    this.symbols = new ModuleSymbols(images);
  }

  /**
   * Returns the named frames of a stack of {@link RecordedFrame recorded frames}, in the same
   * order.
   */
  public synchronized List<StackFrame> frames(long[] recorded) {
    return frames(List.of(recorded)).get(0);
  }

  /**
   * Returns the named frames of many stacks.
   *
   * <p>New frames are named in a separate loop. If the loop with the look-ups also named frames,
   * the JVM's compiler would inline all code of naming into this hot loop, and take seconds for it.
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
   * Returns the build ids of modules by the names of their libraries. Omits a name if modules with
   * different build ids have it.
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

  /** Looks up the functions of all new native frames, in one pass for each module. */
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

  /** Returns whether an address belongs to a module. A later module may overlap an earlier one. */
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

  /** Returns whether a frame has a final name. A method without a name may get one later. */
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

  /** Returns the line of the last entry at or before an index; 0 if there is none. */
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

  /** Returns the name of a symbol, shared by all frames of its function. */
  private String nameOf(SymbolTable.Symbol symbol) {
    return names.shared(SymbolName.of(symbol.name()));
  }
}
