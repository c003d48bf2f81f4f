package io.mallometer.symbol;

import java.util.List;
import java.util.Optional;

/** Where the bytes of modules are. Tests feed {@link Symbolizer} through it. */
public interface ModuleImages {

  /**
   * Names of files that may be a module's, the likeliest first. Whether one is, its contents tell.
   */
  List<String> files(RecordedModule module);

  /** Opens a file; empty if it cannot be read. The caller closes it. */
  Optional<Bytes> open(String file);

  /** This process' memory; empty if it cannot be read. The caller closes it. */
  Optional<Bytes> memory();

  /** Of this process, through {@code /proc}. */
  static ModuleImages ofThisProcess() {
    return new OwnImages();
  }

  /** Of a process whose modules cannot be read. */
  static ModuleImages none() {
    return new ModuleImages() {
      @Override
      public List<String> files(RecordedModule module) {
        return List.of();
      }

      @Override
      public Optional<Bytes> open(String file) {
        return Optional.empty();
      }

      @Override
      public Optional<Bytes> memory() {
        return Optional.empty();
      }
    };
  }
}
