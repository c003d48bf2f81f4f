package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class ApplicationVersionTest {

  @TempDir private Path directory;

  @Test
  void theVariableGoesBeforeTheJar() throws IOException {
    String jar = jar("Implementation-Version: 4.5.6\n").toString();
    Map<String, String> variable = Map.of(ApplicationVersion.VARIABLE, "service.version=2.3.1");
    Map<String, String> other = Map.of(ApplicationVersion.VARIABLE, "service.name=shop");

    assertThat(ApplicationVersion.of(variable, jar, jar)).contains("2.3.1");
    assertThat(ApplicationVersion.of(other, jar + " --port=1", jar)).contains("4.5.6");
    assertThat(ApplicationVersion.of(Map.of(), "shop.Main", jar)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "service.version=2.3.1 | 2.3.1",
        "service.name=shop,service.version=2.3.1,host=a | 2.3.1",
        "service.name=shop , service.version = 2.3.1 | 2.3.1",
        "service.version=2.3.1%2Bbuild%2C7 | 2.3.1+build,7",
        "service.version=2.3.1+7=a | 2.3.1+7=a",
        "service.version=v%C3%A4 | v\u00e4",
        "service.version=1%0A2 | 12"
      })
  void theVersionIsOneOfTheVariablesAttributes(String attributes, String version) {
    assertThat(ApplicationVersion.ofAttributes(attributes)).contains(version);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",",
        "service.version",
        "service.version=",
        "service.version=%20",
        "my.service.version=2",
        "service.version=2%zz",
        "service.version=2%"
      })
  void anAttributeThatIsBlankOrBrokenIsNoVersion(String attributes) {
    assertThat(ApplicationVersion.ofAttributes(attributes)).isEmpty();
  }

  @Test
  void aVersionIsBounded() {
    assertThat(ApplicationVersion.clean("\t2.3.1 \u0007beta\r\n")).contains("2.3.1 beta");
    assertThat(ApplicationVersion.clean("1\u20282\u202e3")).contains("123");
    assertThat(ApplicationVersion.clean("1".repeat(65))).contains("1".repeat(64));
    assertThat(ApplicationVersion.clean("1".repeat(63) + "\ud83d\ude00")).contains("1".repeat(63));
    assertThat(ApplicationVersion.clean(" \u0000 ")).isEmpty();
  }

  /**
   * The values are like those that HotSpot's launcher sets for {@code sun.java.command} and {@code
   * java.class.path}. The jar of an agent is appended to the class path.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "app.jar | app.jar",
        "app.jar --server.port=1 | app.jar",
        "/my apps/app.jar a | /my apps/app.jar",
        "app.jar | app.jar:/opt/mallometer-agent.jar"
      })
  void theJarThatIsRunIsTheFirstOfTheClassPath(String command, String classPath) {
    assertThat(ApplicationVersion.jar(command, classPath))
        .contains(new File(classPath.split(":")[0]));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"shop.Main a | app.jar:lib.jar", "app.jarred | app.jar", "'' | app.jar", "a | ''"})
  void aClassOfTheClassPathIsNoJar(String command, String classPath) {
    assertThat(ApplicationVersion.jar(command, classPath)).isEmpty();
  }

  @Test
  void aJarHasAVersionIfItsManifestSaysSo() throws IOException {
    assertThat(ApplicationVersion.ofJar(jar("Implementation-Version:  4.5.6 \n")))
        .contains("4.5.6");
    assertThat(ApplicationVersion.ofJar(jar("Specification-Version: 4\n"))).isEmpty();
    assertThat(ApplicationVersion.ofJar(jar("Implementation-Version: \n"))).isEmpty();
  }

  @Test
  void aMissingOrBrokenJarIsNoVersion() throws IOException {
    Path garbage = Files.writeString(directory.resolve("garbage.jar"), "no jar at all");
    Path cut = directory.resolve("cut.jar");
    byte[] whole = Files.readAllBytes(jar("Implementation-Version: 4.5.6\n").toPath());
    Files.write(cut, Arrays.copyOf(whole, whole.length / 2));
    Path empty = directory.resolve("empty.jar");
    new ZipOutputStream(Files.newOutputStream(empty)).close();

    assertThat(ApplicationVersion.ofJar(new File("/nowhere/app.jar"))).isEmpty();
    assertThat(ApplicationVersion.ofJar(directory.toFile())).isEmpty();
    assertThat(ApplicationVersion.ofJar(new File("a\u0000b"))).isEmpty();
    assertThat(ApplicationVersion.ofJar(garbage.toFile())).isEmpty();
    assertThat(ApplicationVersion.ofJar(cut.toFile())).isEmpty();
    assertThat(ApplicationVersion.ofJar(empty.toFile())).isEmpty();
    assertThat(ApplicationVersion.ofJar(jar("no attribute\n"))).isEmpty();
  }

  private File jar(String attributes) throws IOException {
    Path file = directory.resolve("app.jar");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
      zip.putNextEntry(new ZipEntry("META-INF/MANIFEST.MF"));
      zip.write(("Manifest-Version: 1.0\n" + attributes).getBytes(StandardCharsets.UTF_8));
    }
    return file.toFile();
  }
}
