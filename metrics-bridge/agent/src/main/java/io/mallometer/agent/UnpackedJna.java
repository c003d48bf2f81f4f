package io.mallometer.agent;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * JNA's native part as a file, where JNA would unpack it to. JNA takes a random name, for which the
 * JDK loads its cryptography: a tenth of what the bridge adds to a program's start.
 */
final class UnpackedJna {

  private static final String LIBRARY = "/libjnidispatch.so";

  private UnpackedJna() {}

  /**
   * A file with the bytes, if the resource is JNA's native part; JNA deletes it once it is loaded,
   * as its name begins with jna. Null if it is another resource, or cannot be written: JNA then
   * unpacks it by itself, or says why not.
   */
  static @Nullable URL url(String name, byte[] bytes) {
    if (!name.endsWith(LIBRARY)) {
      return null;
    }
    try {
      Path file =
          directory()
              .resolve("jna" + System.identityHashCode(bytes) + "-" + System.nanoTime() + ".tmp");
      // As JNA does: it deletes what it has loaded, but not what could not be loaded. First,
      // because
      // the application may end while this is written.
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
