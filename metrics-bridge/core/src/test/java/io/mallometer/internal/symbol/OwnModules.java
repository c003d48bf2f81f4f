package io.mallometer.internal.symbol;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Reads the memory mappings of this process, and describes its modules as the native library would
 * record them.
 */
final class OwnModules {

  private OwnModules() {}

  static Optional<RecordedModule> at(long address) {
    return modules().stream()
        .filter(module -> address >= module.begin() && address < module.end())
        .findFirst();
  }

  static long address(NativeLibrary library, String function) {
    return Pointer.nativeValue(library.getFunction(function));
  }

  private static List<RecordedModule> modules() {
    try {
      String maps = Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1);
      return MappedModules.in(maps, ModuleImages.ofThisProcess());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
