package io.mallometer.internal.library.abi;

import io.mallometer.internal.symbol.Modules;
import io.mallometer.internal.symbol.RecordedFrame;
import io.mallometer.internal.symbol.RecordedModule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The executable and the libraries in stacks, in the order in which the native library recorded
 * them. An address of an unloaded library may be taken for a library that was loaded there later.
 * This is rare, because stacks are named within seconds.
 *
 * <p>On glibc before 2.35, the native library records no modules. The modules are then those that
 * are mapped when a stack is named.
 */
final class LoadedModules implements Modules {

  private static final long PACE_NANOS = 1_000_000_000L;

  private final List<RecordedModule> known = new ArrayList<>();
  private final Supplier<List<RecordedModule>> mappings;
  private final LongSupplier nanoTime;

  private List<RecordedModule> mapped = List.of();

  private Optional<RecordedModule> found = Optional.empty();

  /**
   * Whether a recorded module overlaps an earlier one, which it replaced in memory. An address may
   * then be in both.
   */
  private boolean replaced;

  private int changes;

  private boolean everMapped;
  private long mappedAt;

  LoadedModules(Supplier<List<RecordedModule>> mappings, LongSupplier nanoTime) {
    this.mappings = mappings;
    this.nanoTime = nanoTime;
  }

  synchronized int count() {
    return known.size();
  }

  synchronized void add(List<RecordedModule> modules) {
    for (RecordedModule module : modules) {
      replaced = replaced || overlapsKnown(module);
      known.add(module);
      changes++;
    }
  }

  private boolean overlapsKnown(RecordedModule module) {
    return known.stream().anyMatch(other -> overlap(other, module));
  }

  /**
   * Returns all recorded modules or, if none are recorded, the modules of the latest reading of the
   * mappings.
   */
  synchronized List<RecordedModule> all() {
    return List.copyOf(known.isEmpty() ? mapped : known);
  }

  @Override
  public synchronized int changes() {
    return changes;
  }

  @Override
  public synchronized Optional<RecordedModule> at(long address) {
    if (!known.isEmpty()) {
      if (replaced || found.isEmpty() || !isIn(found.get(), address)) {
        found = in(known, address);
      }
      return found;
    }
    Optional<RecordedModule> module = in(mapped, address);
    return module.isPresent() || !mapAgain() ? module : in(mapped, address);
  }

  /**
   * Returns a stack without generated code: its native frames up to the first that belongs to no
   * module, and its Java frames. If modules are recorded, the library has already removed generated
   * code.
   */
  synchronized long[] withoutGeneratedCode(long[] stack) {
    if (!known.isEmpty()) {
      return stack;
    }
    int javaFrames = RecordedFrame.javaFrames(stack);
    int nativeFrames = stack.length - javaFrames;
    int end = 0;
    while (end < nativeFrames && at(stack[end] - 1).isPresent()) {
      end++;
    }
    if (mapped.isEmpty() || end == nativeFrames) {
      return stack;
    }
    long[] shorter = Arrays.copyOf(stack, end + javaFrames);
    System.arraycopy(stack, nativeFrames, shorter, end, javaFrames);
    return shorter;
  }

  private static Optional<RecordedModule> in(List<RecordedModule> modules, long address) {
    for (int i = modules.size() - 1; i >= 0; i--) {
      RecordedModule module = modules.get(i);
      if (isIn(module, address)) {
        return Optional.of(module);
      }
    }
    return Optional.empty();
  }

  private static boolean overlap(RecordedModule one, RecordedModule other) {
    return Long.compareUnsigned(one.begin(), other.end()) < 0
        && Long.compareUnsigned(other.begin(), one.end()) < 0;
  }

  private static boolean isIn(RecordedModule module, long address) {
    return Long.compareUnsigned(address, module.begin()) >= 0
        && Long.compareUnsigned(address, module.end()) < 0;
  }

  private boolean mapAgain() {
    long now = nanoTime.getAsLong();
    if (everMapped && now - mappedAt < PACE_NANOS) {
      return false;
    }
    everMapped = true;
    mappedAt = now;
    List<RecordedModule> before = mapped;
    mapped = mappings.get();
    changes += mapped.equals(before) ? 0 : 1;
    return true;
  }
}
