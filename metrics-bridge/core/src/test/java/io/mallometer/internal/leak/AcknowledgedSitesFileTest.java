package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that acknowledgements are kept for the next run. If their file is invalid, they are lost,
 * but nothing else fails.
 */
class AcknowledgedSitesFileTest {

  @TempDir private Path directory;

  private AcknowledgedSitesFile file() {
    return new AcknowledgedSitesFile(directory.resolve("healthy"));
  }

  @Test
  void namesAreThereForTheNext() throws IOException {
    assertThat(file().read()).isEmpty();
    file().put("com.shop.Cart.zip", true);
    file().put("com.shop.Cart.lambda$\u00fc", true);
    file().put("com.shop.Cart.zip", true);
    assertThat(file().read()).containsExactly("com.shop.Cart.lambda$\u00fc", "com.shop.Cart.zip");

    file().put("com.shop.Cart.lambda$\u00fc", false);
    assertThat(file().read()).containsExactly("com.shop.Cart.zip");
    assertThat(names(directory)).containsExactly("healthy");
  }

  @Test
  void aPersonMayWriteIt() throws IOException {
    Files.writeString(directory.resolve("healthy"), "# ours\n\n  com.shop.cache.*\r\n");
    assertThat(file().read()).containsExactly("com.shop.cache.*");
  }

  @Test
  void whatAnotherWroteStays() {
    AcknowledgedSitesFile one = file();
    one.read();
    file().put("theirs", true);
    one.put("ours", true);
    assertThat(file().read()).containsExactly("ours", "theirs");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# a comment", "two\nlines", "two\rlines"})
  void whatCannotBeALineIsPassedOver(String name) {
    file().put(name, true);
    assertThat(directory.resolve("healthy")).doesNotExist();
  }

  @Test
  void aFileThatCannotBeReadIsLeftAlone() throws IOException {
    byte[] latin1 = "caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1);
    Files.write(directory.resolve("healthy"), latin1);
    assertThat(file().read()).isEmpty();
    file().put("a.B.c", true);
    assertThat(directory.resolve("healthy")).hasBinaryContent(latin1);
  }

  @Test
  @Tag("process")
  @Timeout(value = 10, threadMode = ThreadMode.SEPARATE_THREAD)
  void aPipeIsNotWaitedFor() throws Exception {
    Path pipe = directory.resolve("healthy");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThat(file().read()).isEmpty();
    file().put("a.B.c", true);
    assertThat(Files.isRegularFile(pipe)).isFalse();
  }

  @Test
  void aMissingDirectoryHarmsNobody() {
    AcknowledgedSitesFile file = new AcknowledgedSitesFile(directory.resolve("missing/healthy"));
    assertThat(file.read()).isEmpty();
    file.put("a.B.c", true);
    assertThat(directory.resolve("missing")).doesNotExist();
  }

  private static List<String> names(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
