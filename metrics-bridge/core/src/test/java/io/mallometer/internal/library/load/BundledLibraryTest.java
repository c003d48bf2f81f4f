package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundledLibraryTest {

  private static final byte[] CONTENT = "a library".getBytes();

  @TempDir private Path directory;

  @Test
  void thePlaceIsPrivateAndTheSameEachTime() throws Exception {
    Path first = extract();
    FileTime written = Files.getLastModifiedTime(first);
    Path second = extract();

    assertThat(second).isEqualTo(first).hasBinaryContent(CONTENT);
    assertThat(Files.getLastModifiedTime(second)).isEqualTo(written);
    assertThat(mode(first.getParent())).isEqualTo("rwx------");
    assertThat(mode(base())).isEqualTo("rwx------");
  }

  @Test
  void anotherVersionGoesBesideIt() throws Exception {
    Path other = BundledLibrary.extractPrivately("another".getBytes(), base());

    assertThat(extract()).isNotEqualTo(other);
    assertThat(other).exists();
  }

  @Test
  void aFileThatWasTamperedWithIsReplaced() throws Exception {
    Path file = extract();
    Files.write(file, "another!!".getBytes());

    assertThat(extract()).isEqualTo(file).hasBinaryContent(CONTENT);
  }

  @Test
  void aLinkInPlaceOfTheFileIsReplacedAndItsTargetLeftAlone() throws Exception {
    Path file = extract();
    Path target = Files.write(directory.resolve("target"), CONTENT);
    Files.delete(file);
    Files.createSymbolicLink(file, target);

    assertThat(extract()).isRegularFile();
    assertThat(Files.isSymbolicLink(file)).isFalse();
    assertThat(target).hasBinaryContent(CONTENT);
  }

  @Test
  void aLinkInPlaceOfTheDirectoryIsRefused() throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Files.createSymbolicLink(base(), elsewhere);

    assertThatIOException().isThrownBy(this::extract).withMessageContaining("symbolic link");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void aDirectoryThatOthersMayWriteIsMadePrivate() throws Exception {
    Files.createDirectory(base());
    Files.setPosixFilePermissions(base(), PosixFilePermissions.fromString("rwxrwxrwx"));

    extract();

    assertThat(mode(base())).isEqualTo("rwx------");
  }

  @Test
  void aParentInWhichOthersMayRenameIsRefused() throws Exception {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));

    assertThatIOException().isThrownBy(this::extract).withMessageContaining("by other users");
  }

  @Test
  void aPathThatLdPreloadCannotNameIsRefused() {
    assertThatIOException()
        .isThrownBy(
            () -> BundledLibrary.extractPrivately(CONTENT, directory.resolve("a b/mallometer")))
        .withMessageContaining("space");
  }

  @Test
  void manyAtOnceAgree() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Path>> tasks =
          Stream.<Callable<Path>>generate(() -> this::extract).limit(64).toList();
      for (var extracted : threads.invokeAll(tasks)) {
        assertThat(extracted.get()).hasBinaryContent(CONTENT);
      }
    } finally {
      threads.shutdownNow();
    }
    try (Stream<Path> files = Files.list(extract().getParent())) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void aNamedDirectoryGetsTheFileByItsName() throws Exception {
    Path shared = directory.resolve("volume/mallometer");
    Path file = BundledLibrary.extract(shared);

    assertThat(file).isEqualTo(shared.resolve("libmallometer.so")).isNotEmptyFile();
    assertThat(mode(file)).isEqualTo("rw-r--r--");
  }

  @Test
  void cachesAreTriedBeforeTheDirectoryForTemporaryFiles() {
    Properties properties = new Properties();
    properties.setProperty("user.home", "/home/ann");
    properties.setProperty("user.name", "ann");
    properties.setProperty("java.io.tmpdir", "/tmp");

    assertThat(CacheDirectories.candidates(Map.of("XDG_CACHE_HOME", "/cache"), properties))
        .containsExactly(
            Path.of("/cache/mallometer"),
            Path.of("/home/ann/.cache/mallometer"),
            Path.of("/tmp/mallometer-ann"));
  }

  @Test
  void anUnknownUserOfAContainerHasOnlyTheDirectoryForTemporaryFiles() {
    Properties properties = new Properties();
    properties.setProperty("user.home", "?");
    properties.setProperty("user.name", "?");
    properties.setProperty("java.io.tmpdir", "/tmp");

    assertThat(CacheDirectories.candidates(Map.of(), properties))
        .containsExactly(Path.of("/tmp/mallometer-_"));
  }

  private Path extract() throws IOException {
    return BundledLibrary.extractPrivately(CONTENT, base());
  }

  private Path base() {
    return directory.resolve("mallometer");
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
