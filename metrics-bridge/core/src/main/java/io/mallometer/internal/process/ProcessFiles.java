package io.mallometer.internal.process;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Reads the files that the kernel provides about this process. Uses streams and not channels,
 * because an interrupt by the application's code would close a channel.
 */
class ProcessFiles {

  private static final Path SELF = Path.of("/proc/self");

  boolean present() {
    try {
      return Files.isReadable(SELF.resolve("smaps"));
    } catch (SecurityException e) {
      return false;
    }
  }

  Optional<String> text(Path path) {
    try (InputStream in = new FileInputStream(path.toFile())) {
      return Optional.of(text(in));
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }

  /**
   * Reads a stream to its end. For small files, {@code readAllBytes} would take several times as
   * much memory.
   */
  private static String text(InputStream in) throws IOException {
    byte[] bytes = new byte[2048];
    int filled = 0;
    for (int more = 0; more >= 0; filled += Math.max(0, more)) {
      if (filled == bytes.length) {
        bytes = Arrays.copyOf(bytes, 2 * filled);
      }
      more = in.read(bytes, filled, bytes.length - filled);
    }
    return new String(bytes, 0, filled, StandardCharsets.UTF_8);
  }

  Optional<String> own(String name) {
    return text(SELF.resolve(name));
  }

  Optional<List<Mapping>> mappings() {
    return mappings(false);
  }

  /**
   * Returns all mappings, with each page of the Java heap counted once, although ZGC of JDK 17 maps
   * the heap three times.
   */
  Optional<List<Mapping>> mappingsOnce() {
    return mappings(true);
  }

  private static Optional<List<Mapping>> mappings(boolean once) {
    try (InputStream in = new FileInputStream(SELF.resolve("smaps").toFile())) {
      return Optional.of(once ? Smaps.parseOnce(in) : Smaps.parse(in));
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }
}
