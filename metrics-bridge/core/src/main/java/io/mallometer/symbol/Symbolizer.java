package io.mallometer.symbol;

import io.mallometer.StackFrame;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.LongFunction;

/**
 * Names recorded frames. A native frame is a return address, which may be the first of the next
 * function if the call never returns; so the function is looked up one byte before it. Frames are
 * kept, so that a stack that was seen before costs a look-up for each frame.
 *
 * <p>May be used by any thread. Never throws for what the modules contain.
 */
public final class Symbolizer {

  /** The class of a method of which nothing is known: it was unloaded before it was named. */
  public static final String UNLOADED = "[unloaded]";

  private static final String METHOD = "[method]";

  /** About 3 MiB. */
  private static final int MOST_FRAMES = 16_384;

  /** A frame, and the module that was at its address then. */
  private record Named(Optional<RecordedModule> module, StackFrame frame) {}

  private final LongFunction<Optional<RecordedModule>> modules;
  private final IntFunction<Optional<RecordedMethod>> methods;
  private final ModuleSymbols symbols;

  private final Map<Long, Named> named =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Named> eldest) {
          return size() > MOST_FRAMES;
        }
      };

  /**
   * A symbolizer.
   *
   * @param modules finds the module at an address
   * @param methods finds the method of a number; a number never changes its method
   * @param images where the modules' bytes are
   */
  public Symbolizer(
      LongFunction<Optional<RecordedModule>> modules,
      IntFunction<Optional<RecordedMethod>> methods,
      ModuleImages images) {
    this.modules = modules;
    this.methods = methods;
    this.symbols = new ModuleSymbols(images);
  }

  /** The names of a stack's frames, as {@link RecordedFrame} writes them, in the same order. */
  public synchronized List<StackFrame> frames(long[] recorded) {
    StackFrame[] frames = new StackFrame[recorded.length];
    for (int i = 0; i < recorded.length; i++) {
      frames[i] = RecordedFrame.isJava(recorded[i]) ? java(recorded[i]) : nativeCode(recorded[i]);
    }
    return List.of(frames);
  }

  /** What the symbol tables take of the heap, about. */
  public synchronized long tableBytes() {
    return symbols.bytes();
  }

  private StackFrame java(long recorded) {
    Named known = named.get(recorded);
    if (known != null) {
      return known.frame();
    }
    Optional<RecordedMethod> method = methods.apply(RecordedFrame.method(recorded));
    if (method.isEmpty()) {
      return StackFrame.ofJava(UNLOADED, METHOD, "", 0);
    }
    StackFrame frame = java(method.get(), RecordedFrame.bytecodeIndex(recorded));
    named.put(recorded, new Named(Optional.empty(), frame));
    return frame;
  }

  private static StackFrame java(RecordedMethod method, int bytecodeIndex) {
    return StackFrame.ofJava(
        JavaNames.ofClass(method.className()),
        JavaNames.ofMethod(method.method()),
        method.source(),
        line(method.lines(), bytecodeIndex));
  }

  /** The line of the last entry that begins at or before an index; 0 if there is none. */
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

  private StackFrame nativeCode(long returnAddress) {
    Optional<RecordedModule> module = modules.apply(returnAddress - 1);
    if (module.isEmpty()) {
      return StackFrame.ofLibrary("", "", returnAddress);
    }
    Named known = named.get(returnAddress);
    if (known != null && known.module().equals(module)) {
      return known.frame();
    }
    StackFrame frame = nativeCode(returnAddress, module.get());
    named.put(returnAddress, new Named(module, frame));
    return frame;
  }

  private StackFrame nativeCode(long returnAddress, RecordedModule module) {
    String library = symbols.library(module);
    long address = returnAddress - module.bias();
    return symbols
        .symbol(module, returnAddress - 1)
        .map(
            symbol ->
                StackFrame.ofLibrary(
                    library, SymbolName.of(symbol.name()), address - symbol.address()))
        .orElseGet(() -> StackFrame.ofLibrary(library, "", address));
  }
}
