package io.mallometer.interposer;

import io.mallometer.symbol.RecordedModule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The executable and the libraries that stacks lead through, in the order in which the library
 * noted them. Where one was unloaded and another took its place, the later one is found; stacks are
 * named once, within seconds of their first sample.
 */
final class LoadedModules {

  private final List<RecordedModule> known = new ArrayList<>();

  /** How many there are. */
  synchronized int count() {
    return known.size();
  }

  /** Adds those that are new, in the order of their numbers. */
  synchronized void add(List<RecordedModule> modules) {
    known.addAll(modules);
  }

  /** The one at an address. */
  synchronized Optional<RecordedModule> at(long address) {
    for (int i = known.size() - 1; i >= 0; i--) {
      RecordedModule module = known.get(i);
      if (Long.compareUnsigned(address, module.begin()) >= 0
          && Long.compareUnsigned(address, module.end()) < 0) {
        return Optional.of(module);
      }
    }
    return Optional.empty();
  }
}
