package io.mallometer.internal.symbol;

import java.util.Optional;

/** The sources of the bytes of modules. Tests of {@link Symbolizer} replace them. */
public interface ModuleImages {

  /**
   * Returns the path that a module was loaded from; empty if unknown. The file there may have been
   * replaced since, so the caller compares its contents with the module.
   */
  default Optional<String> file(RecordedModule module) {
    return Optional.empty();
  }

  /**
   * Returns a path through which the file of a module can be read even if the file was deleted or
   * replaced; empty if there is none.
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
