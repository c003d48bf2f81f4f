package io.mallometer.internal.gate;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes files that appear or change only when their new content is complete. */
public final class WholeFile {

  private WholeFile() {}

  public static void write(Path file, String content) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    Files.createDirectories(directory);
    Path unfinished =
        directory.resolve("." + file.getFileName() + "." + ProcessHandle.current().pid());
    try {
      Files.writeString(unfinished, content, StandardCharsets.UTF_8);
      Files.move(
          unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }
}
