package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentOptionsTest {

  @TempDir private Path directory;

  @Test
  void nothingMeansNothing() throws IOException {
    assertThat(AgentOptions.parse("")).isEmpty();
  }

  @Test
  void optionsAreNamesAndValues() throws IOException {
    assertThat(AgentOptions.parse("port=9464, host=0.0.0.0,recording=/var/lib/app/recording"))
        .isEqualTo(
            Map.of("port", "9464", "host", "0.0.0.0", "recording", "/var/lib/app/recording"));
  }

  @Test
  void portZeroIsAnyThatIsFree() throws IOException {
    assertThat(AgentOptions.parse("port=0")).isEqualTo(Map.of("port", "0"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"port", "port=", "9464"})
  void whatIsNotUnderstoodIsRefused(String options) {
    assertThatIllegalArgumentException().isThrownBy(() -> AgentOptions.parse(options));
  }

  @Test
  void aFileHasTheBlockOfJmxExporterAndTheCommandLineGoesFirst() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("options.yml"),
            """
            port: 9000
            http-server:
              authentication:
                basic:
                  username: Prometheus
                  password: "a, b: c # d"
              ssl:
                key-store:
                  filename: /etc/app/store.p12   # of the certificate
            http-server.ssl.key-store.password: 'changeit'
            """);

    assertThat(AgentOptions.parse("port=9464,config=" + file))
        .isEqualTo(
            Map.of(
                "port", "9464",
                "config", file.toString(),
                "http-server.authentication.basic.username", "Prometheus",
                "http-server.authentication.basic.password", "a, b: c # d",
                "http-server.ssl.key-store.filename", "/etc/app/store.p12",
                "http-server.ssl.key-store.password", "changeit"));
  }

  @Test
  void aFileThatIsMissingOrNotUnderstoodIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("options.yml"), "- pattern\n");

    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgentOptions.parse("config=" + file))
        .withMessageContaining("line \"- pattern\" is not name: value");
    assertThatIOException()
        .isThrownBy(() -> AgentOptions.parse("config=" + directory.resolve("none")))
        .withMessageContaining("none");
  }
}
