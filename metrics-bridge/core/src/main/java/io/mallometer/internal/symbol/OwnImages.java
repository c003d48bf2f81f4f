package io.mallometer.internal.symbol;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The modules of this process. {@code /proc/self/map_files} also contains deleted and replaced
 * files, but only privileged processes may open it. {@code /proc/self/mem}, which every process may
 * read, contains the mapped parts of the files. A read of an unmapped address from {@code
 * /proc/self/mem} fails with an error and not with a signal.
 */
final class OwnImages implements ModuleImages {

  private static final String MEMORY = "/proc/self/mem";
  private static final String MAPPED_FILES = "/proc/self/map_files";
  private static final String MAPPINGS = "/proc/self/maps";
  private static final String EXECUTABLE = "/proc/self/exe";

  @Override
  public Optional<String> file(RecordedModule module) {
    String path = module.path();
    if (path.isEmpty()) {
      return Optional.of(executable());
    }
    return path.startsWith("/") ? Optional.of(path) : Optional.empty();
  }

  @Override
  public Optional<String> mappedFile(RecordedModule module) {
    String mapping = mapping(module.begin());
    return mapping.isEmpty() ? Optional.empty() : Optional.of(MAPPED_FILES + "/" + mapping);
  }

  private static String executable() {
    try {
      return Files.readSymbolicLink(Path.of(EXECUTABLE)).toString();
    } catch (IOException | RuntimeException e) {
      return EXECUTABLE;
    }
  }

  /**
   * Returns the name in {@code /proc/self/map_files} of the mapping that begins at an address.
   * Empty if there is none.
   */
  private static String mapping(long begin) {
    String start = Long.toHexString(begin) + "-";
    Path maps = Path.of(MAPPINGS);
    try (BufferedReader lines = Files.newBufferedReader(maps, StandardCharsets.ISO_8859_1)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(start) && line.indexOf(' ') > 0) {
          return line.substring(0, line.indexOf(' '));
        }
      }
      return "";
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }

  @Override
  public Optional<Bytes> open(String file) {
    try {
      // Opening a pipe or a device could block.
      return Files.isRegularFile(Path.of(file)) ? opened(file) : Optional.empty();
    } catch (InvalidPathException | SecurityException e) {
      return Optional.empty();
    }
  }

  @Override
  public Optional<Bytes> memory() {
    return opened(MEMORY);
  }

  private static Optional<Bytes> opened(String file) {
    try {
      return Optional.of(new OpenFile(new RandomAccessFile(file, "r")));
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }

  private record OpenFile(RandomAccessFile file) implements Bytes {

    @Override
    public boolean read(long position, byte[] into, int length) {
      if (position < 0) {
        return false;
      }
      try {
        file.seek(position);
        file.readFully(into, 0, length);
        return true;
      } catch (IOException e) {
        return false;
      }
    }

    @Override
    public void close() {
      try {
        file.close();
      } catch (IOException e) {
        return; // A failed close is harmless after reading.
      }
    }
  }
}
