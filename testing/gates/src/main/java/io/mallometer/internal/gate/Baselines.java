package io.mallometer.internal.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Results saved under names in a directory. A baseline is a file of results with all samples. */
public final class Baselines {

  private static final String ENDING = ".json";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

  private final Path directory;

  public Baselines(Path directory) {
    this.directory = directory;
  }

  public Path file(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          name
              + " is not a name for a baseline: use up to 100 letters, digits, dots, hyphens and"
              + " underscores, a letter or digit first");
    }
    return directory.resolve(name + ENDING);
  }

  public Path save(String name, Results results) throws IOException {
    Path file = file(name);
    WholeFile.write(file, results.json());
    return file;
  }

  public void delete(String name) throws IOException {
    try {
      Files.delete(file(name));
    } catch (NoSuchFileException e) {
      throw absent(name);
    }
  }

  /**
   * Reads the selected metrics of a baseline.
   *
   * @throws IOException if no baseline has the name, or its file cannot be read
   */
  public Results read(String name, Selection selection) throws IOException {
    Path file = file(name);
    if (!Files.exists(file)) {
      throw absent(name);
    }
    return Results.read(List.of(file), selection);
  }

  public List<String> names() throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(ENDING))
          .map(name -> name.substring(0, name.length() - ENDING.length()))
          .filter(name -> NAME.matcher(name).matches())
          .sorted()
          .toList();
    }
  }

  private IOException absent(String name) throws IOException {
    List<String> names = names();
    return new IOException(
        "there is no baseline %s in %s; %s"
            .formatted(
                name,
                directory,
                names.isEmpty()
                    ? "create one with baseline save"
                    : "there are " + String.join(", ", names)));
  }
}
