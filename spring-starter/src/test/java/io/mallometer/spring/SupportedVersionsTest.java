package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class SupportedVersionsTest {

  private static final int JAVA_8 = 52;

  @ParameterizedTest
  @ValueSource(
      classes = {
        SupportedVersions.class,
        BackgroundStart.class,
        MallometerManagementContextConfiguration.class
      })
  void whatSpringBootLoadsUnaskedIsCompiledForJava8(Class<?> loaded) throws IOException {
    try (InputStream resource = loaded.getResourceAsStream(loaded.getSimpleName() + ".class");
        DataInputStream file = new DataInputStream(Objects.requireNonNull(resource))) {
      file.readInt();
      assertThat(file.readUnsignedShort()).isZero();
      assertThat(file.readUnsignedShort()).isEqualTo(JAVA_8);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1.8, 2.7.18, Java 1.8",
    "11, 2.7.18, Java 11",
    "17, 2.7.18, Spring Boot 3.5 or newer",
    "17, 3.4.13, this is 3.4.13",
    "17, , an older version",
    "17, unknown, Spring Boot 3.5"
  })
  void tooOld(String java, String springBoot, String obstacle) {
    assertThat(SupportedVersions.obstacle(java, springBoot)).contains(obstacle);
  }

  @ParameterizedTest
  @CsvSource({"17, 3.5.0", "17, 3.10.1", "25, 4.0.8", "28, 5.0.0-SNAPSHOT"})
  void newEnough(String java, String springBoot) {
    assertThat(SupportedVersions.obstacle(java, springBoot)).isNull();
  }

  @Test
  void nothingIsLeftOutHere(CapturedOutput output) {
    String[] classes = {MallometerAutoConfiguration.class.getName(), null, "com.example.Other"};
    AutoConfigurationMetadata none = null;

    assertThat(new SupportedVersions().match(classes, none)).containsExactly(true, true, true);
    assertThat(output).isEmpty();
  }
}
