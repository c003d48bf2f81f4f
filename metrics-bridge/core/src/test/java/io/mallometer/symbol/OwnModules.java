package io.mallometer.symbol;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The modules of this process as the native library would record them, from its mappings. */
final class OwnModules {

  private OwnModules() {}

  /** The module with an address in it. */
  static Optional<RecordedModule> at(long address) {
    return modules().stream()
        .filter(module -> address >= module.begin() && address < module.end())
        .findFirst();
  }

  /** The address of an exported function, as the loader gives it. */
  static long address(NativeLibrary library, String function) {
    return Pointer.nativeValue(library.getFunction(function));
  }

  /** Each file that is mapped from its beginning, with what is mapped of it behind. */
  private static List<RecordedModule> modules() {
    List<String[]> mappings;
    try {
      mappings =
          Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1).stream()
              .map(line -> line.split(" +", 6))
              .filter(fields -> fields.length == 6 && fields[5].startsWith("/"))
              .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return mappings.stream()
        .filter(fields -> fields[2].equals("00000000"))
        .map(first -> module(first, mappings))
        .toList();
  }

  private static RecordedModule module(String[] first, List<String[]> mappings) {
    long begin = start(first);
    long end =
        mappings.stream()
            .filter(fields -> fields[4].equals(first[4]) && start(fields) >= begin)
            .mapToLong(OwnModules::end)
            .max()
            .orElseThrow();
    RecordedModule unidentified = new RecordedModule(begin, end, begin, first[5], "");
    return new RecordedModule(begin, end, begin, first[5], buildId(unidentified));
  }

  private static String buildId(RecordedModule module) {
    try (Bytes memory = ModuleImages.ofThisProcess().memory().orElseThrow()) {
      return ElfImage.ofMemory(memory, module).map(ElfImage::buildId).orElse("");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static long start(String[] fields) {
    return Long.parseLong(fields[0].substring(0, fields[0].indexOf('-')), 16);
  }

  private static long end(String[] fields) {
    return Long.parseLong(fields[0].substring(fields[0].indexOf('-') + 1), 16);
  }
}
