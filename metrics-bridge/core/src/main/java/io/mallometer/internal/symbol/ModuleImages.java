package io.mallometer.internal.symbol;

import java.util.Optional;

/** Where the bytes of modules are. Tests feed {@link Symbolizer} through it. */
public interface ModuleImages {

  /**
   * The file that a module was loaded from; empty if none is known. Its contents tell whether it
   * still is that.
   */
  default Optional<String> file(RecordedModule module) {
    return Optional.empty();
  }

  /** Another name for that file, whatever has become of the first; empty if there is none. */
  default Optional<String> mappedFile(RecordedModule module) {
    return Optional.empty();
  }

  /** Opens a file; empty if it cannot be read. The caller closes it. */
  default Optional<Bytes> open(String file) {
    return Optional.empty();
  }

  /** This process' memory; empty if it cannot be read. The caller closes it. */
  default Optional<Bytes> memory() {
    return Optional.empty();
  }

  /** Of this process, through {@code /proc}. */
  static ModuleImages ofThisProcess() {
    return new OwnImages();
  }

  /** Of a process whose modules cannot be read. */
  static ModuleImages none() {
    return new ModuleImages() {};
  }
}
