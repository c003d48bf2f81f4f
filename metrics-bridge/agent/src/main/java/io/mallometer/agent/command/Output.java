package io.mallometer.agent.command;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The output of a command: standard output, or a file that appears only when it is complete. A
 * write to a full disk fails here; System.out would hide the failure.
 */
final class Output implements AutoCloseable {

  private final OutputStream out;
  private final @Nullable Path file;
  private final @Nullable Path unfinished;

  private Output(OutputStream out, @Nullable Path file, @Nullable Path unfinished) {
    this.out = out;
    this.file = file;
    this.unfinished = unfinished;
  }

  static Output standard() {
    return new Output(
        new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)), null, null);
  }

  static Output to(@Nullable Path path) throws IOException {
    if (path == null) {
      return standard();
    }
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      return new Output(new BufferedOutputStream(Files.newOutputStream(path)), null, null);
    }
    Path unfinished =
        path.resolveSibling("." + path.getFileName() + "." + ProcessHandle.current().pid());
    // Ctrl-C ends the JVM without running the finally blocks.
    unfinished.toFile().deleteOnExit();
    return new Output(
        new BufferedOutputStream(
            Files.newOutputStream(
                unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)),
        path,
        unfinished);
  }

  Output print(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  Output line(String text) throws IOException {
    return print(text + "\n");
  }

  void copy(InputStream from) throws IOException {
    from.transferTo(out);
  }

  void flush() throws IOException {
    out.flush();
  }

  /** Completes the output. A file gets its final name. */
  void finish() throws IOException {
    out.flush();
    if (unfinished != null && file != null) {
      out.close();
      Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Override
  public void close() throws IOException {
    if (unfinished != null) {
      try {
        out.close();
      } finally {
        Files.deleteIfExists(unfinished);
      }
    }
  }
}
