package io.mallometer.internal.symbol;

import java.util.Optional;

/** The sources of the bytes of modules. Tests of {@link Symbolizer} replace them. */
public interface ModuleImages {

  /**
   * Returns the file that a module was loaded from; empty if none is known. The caller checks by
   * the contents whether the file is still the one that was loaded.
   */
  default Optional<String> file(RecordedModule module) {
    return Optional.empty();
  }

  /**
   * Returns another name of the file that a module was loaded from, which stays valid if the file
   * is deleted or replaced; empty if there is none.
   */
  default Optional<String> mappedFile(RecordedModule module) {
    return Optional.empty();
  }

  /** Opens a file; empty if it cannot be read. The caller closes it. */
  default Optional<Bytes> open(String file) {
    return Optional.empty();
  }

  /** Opens the memory of this process; empty if it cannot be read. The caller closes it. */
  default Optional<Bytes> memory() {
    return Optional.empty();
  }

  /** Returns the images of this process, through {@code /proc}. */
  static ModuleImages ofThisProcess() {
    return new OwnImages();
  }
}
