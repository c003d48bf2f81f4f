package io.mallometer.agent;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Writes JNA's native part to a file in the directory that JNA uses. JNA itself would choose a
 * random name, for which the JDK loads its cryptography. That takes a tenth of the time that
 * mallometer adds to the start of a program.
 */
final class UnpackedJna {

  private static final String LIBRARY = "/libjnidispatch.so";

  private UnpackedJna() {}

  /**
   * Writes JNA's native library to a file and returns the file's URL. JNA deletes the file after
   * loading it, because its name begins with jna. Returns null if {@code name} is not that library,
   * or if the file cannot be written. JNA then unpacks the resource itself or reports the failure.
   */
  static @Nullable URL url(String name, byte[] bytes) {
    if (!name.endsWith(LIBRARY)) {
      return null;
    }
    try {
      Path file =
          directory()
              .resolve("jna" + System.identityHashCode(bytes) + "-" + System.nanoTime() + ".tmp");
      // JNA deletes the file only if loading succeeds, so the JVM also deletes it. The file is
      // registered before the write, because the application may end during the write.
      file.toFile().deleteOnExit();
      try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
        out.write(bytes);
      }
      return file.toFile().toURI().toURL();
    } catch (IOException | RuntimeException e) {
      return null;
    }
  }

  private static Path directory() throws IOException {
    String wanted = System.getProperty("jna.tmpdir");
    if (wanted != null) {
      return Path.of(wanted);
    }
    String cache = System.getenv("XDG_CACHE_HOME");
    Path caches =
        cache == null || cache.isBlank()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(cache);
    Path directory = caches.resolve("JNA/temp");
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(directory);
    }
    return directory;
  }
}
