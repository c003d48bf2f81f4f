package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests where JNA unpacks its native library: in a directory of the user's cache, otherwise in the
 * directory for temporary files.
 */
class JnaDirectoryTest {

  @TempDir private Path directory;

  @Test
  void theUsersCacheComesFirst() {
    assertThat(JnaDirectory.directory(Map.of(), properties()))
        .isDirectory()
        .isEqualTo(directory.resolve("home/.cache/JNA/temp").toFile());
    assertThat(
            JnaDirectory.directory(
                Map.of("XDG_CACHE_HOME", directory.resolve("cache").toString()), properties()))
        .isEqualTo(directory.resolve("cache/JNA/temp").toFile());
  }

  @Test
  void whereItCannotBeMadeTemporaryFilesGo() {
    assertThat(JnaDirectory.directory(Map.of("XDG_CACHE_HOME", "/proc/1"), properties()))
        .isEqualTo(directory.resolve("tmp").toFile());
  }

  @Test
  void theOneThatIsAskedForIsTheOnlyOne() {
    Properties properties = properties();
    properties.setProperty("jna.tmpdir", "/proc/1/jna");

    File asked = JnaDirectory.directory(Map.of(), properties);

    assertThat(asked).isEqualTo(new File("/proc/1/jna"));
    assertThat(JnaDirectory.obstacle(asked, "")).hasValue("/proc/1/jna does not exist");
  }

  @Test
  void aDirectoryMustBeOneAndMappable() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    String mounts = "1 2 0:3 / %s rw,noexec - tmpfs none rw\n".formatted(directory.toRealPath());

    assertThat(JnaDirectory.obstacle(directory.toFile(), "")).isEmpty();
    assertThat(JnaDirectory.obstacle(file.toFile(), "")).hasValue(file + " is not a directory");
    assertThat(JnaDirectory.obstacle(directory.toFile(), mounts))
        .hasValue(directory + " is mounted noexec");
    assertThat(JnaDirectory.obstacle(new File("/proc/self"), ""))
        .hasValue("/proc/self cannot be written to");
  }

  private Properties properties() {
    Properties properties = new Properties();
    properties.setProperty("user.home", directory.resolve("home").toString());
    properties.setProperty("java.io.tmpdir", directory.resolve("tmp").toString());
    return properties;
  }
}
