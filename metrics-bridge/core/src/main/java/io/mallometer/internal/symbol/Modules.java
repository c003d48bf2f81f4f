package io.mallometer.internal.symbol;

import java.util.Optional;

/**
 * The executable and the libraries of a process. Tests of {@link Symbolizer} have their own
 * implementation of this interface.
 */
@FunctionalInterface
public interface Modules {

  Optional<RecordedModule> at(long address);

  /**
   * Returns how often the modules have changed. After a change, an address may be in another
   * module.
   */
  default int changes() {
    return 0;
  }
}
