package io.mallometer.internal.leak;

import io.mallometer.internal.text.Log;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.TreeSet;

/**
 * The file of the names that were acknowledged at run time: one name on each line, sorted. Lines
 * that begin with {@code #} are comments, and are lost when a name is added or removed. A failed
 * read or write is logged once; acknowledgements then last until the process ends. Thread-safe.
 *
 * <p>Processes that share a file keep each other's names, unless they write in the same moment.
 */
final class AcknowledgedSitesFile {

  private static final String COMMENT = "#";
  private static final int LARGEST_BYTES = 4 << 20;

  private final Path path;
  private final Log.Once failure = Log.MALLOMETER.once();

  AcknowledgedSitesFile(Path path) {
    this.path = path;
  }

  Path path() {
    return path;
  }

  synchronized List<String> read() {
    try {
      return names();
    } catch (IOException e) {
      warn("read", e);
      return List.of();
    }
  }

  /**
   * Adds or removes a name, and keeps the names that other processes wrote. Ignores a name that
   * cannot be a line of the file.
   */
  synchronized void put(String name, boolean acknowledged) {
    if (name.isEmpty() || name.startsWith(COMMENT) || name.chars().anyMatch(c -> c < ' ')) {
      return;
    }
    try {
      TreeSet<String> names = new TreeSet<>(names());
      boolean changed = acknowledged ? names.add(name) : names.remove(name);
      if (changed) {
        write(names);
      }
    } catch (IOException e) {
      warn("written", e);
    }
  }

  private List<String> names() throws IOException {
    try {
      BasicFileAttributes file = Files.readAttributes(path, BasicFileAttributes.class);
      // Reading a pipe would never end.
      if (!file.isRegularFile()) {
        throw new IOException("it is not a regular file");
      }
      if (file.size() > LARGEST_BYTES) {
        throw new IOException("it is larger than %d bytes".formatted(LARGEST_BYTES));
      }
      return Files.readAllLines(path).stream()
          .map(String::strip)
          .filter(line -> !line.isEmpty() && !line.startsWith(COMMENT))
          .toList();
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (MalformedInputException e) {
      throw new IOException("it is not UTF-8", e);
    }
  }

  /** Replaces the file atomically. */
  private void write(TreeSet<String> names) throws IOException {
    Path written = Path.of(path + "." + ProcessHandle.current().pid() + ".new");
    try {
      Files.deleteIfExists(written);
      Files.write(written, names, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      Files.move(written, path, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(written);
    }
  }

  private void warn(String what, IOException cause) {
    failure.warn(
        "The file of acknowledged call sites, %s, cannot be %s. Acknowledgements last only until the process ends."
            .formatted(path, what),
        cause);
  }
}
