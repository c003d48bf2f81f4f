package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that JVMs from Java 8 on can load the entry points. */
class MainTest {

  private static final int JAVA_8 = 52;

  /**
   * The class files must have the version of Java 8, because a JVM that cannot load the class of an
   * agent exits.
   */
  @ParameterizedTest
  @ValueSource(classes = {Main.class, Premain.class})
  void theWaysInAreCompiledForJava8(Class<?> loaded) throws IOException {
    try (InputStream resource = loaded.getResourceAsStream(loaded.getSimpleName() + ".class");
        DataInputStream file = new DataInputStream(Objects.requireNonNull(resource))) {
      file.readInt();
      assertThat(file.readUnsignedShort()).isZero();
      assertThat(file.readUnsignedShort()).isEqualTo(JAVA_8);
    }
  }

  @ParameterizedTest
  @CsvSource({"1.8, 8", "11, 11", "17, 17", "28, 28", "'', 0", "x, 0"})
  void featureVersions(String specification, int version) {
    assertThat(Main.featureVersion(specification)).isEqualTo(version);
  }
}
