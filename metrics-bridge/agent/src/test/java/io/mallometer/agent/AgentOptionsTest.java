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
    assertThat(AgentOptions.parse("port=9464, host=0.0.0.0,record=/var/lib/app/recording"))
        .isEqualTo(Map.of("port", "9464", "host", "0.0.0.0", "record", "/var/lib/app/recording"));
  }

  @Test
  void portZeroIsAnyThatIsFree() throws IOException {
    assertThat(AgentOptions.parse("port=0")).isEqualTo(Map.of("port", "0"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "port",
        "port=",
        "port=-1",
        "port=65536",
        "port=x",
        "9464",
        "path=/m",
        "attach=off"
      })
  void whatIsNotUnderstoodIsRefused(String options) {
    assertThatIllegalArgumentException().isThrownBy(() -> AgentOptions.parse(options));
  }

  @Test
  void aFileHasTheBlockOfJmxExporterAndTheCommandLineGoesFirst() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("options.yml"),
            """
            # What jmx_exporter calls so
            port: 9000
            httpServer:
              authentication:
                basic:
                  username: Prometheus
                  password: "a, b: c # d"
              ssl:
                keyStore:
                  filename: /etc/app/store.p12   # of the certificate
            httpServer.ssl.keyStore.password: 'changeit'
            """);

    assertThat(AgentOptions.parse("port=9464,config=" + file))
        .isEqualTo(
            Map.of(
                "port", "9464",
                "config", file.toString(),
                "httpServer.authentication.basic.username", "Prometheus",
                "httpServer.authentication.basic.password", "a, b: c # d",
                "httpServer.ssl.keyStore.filename", "/etc/app/store.p12",
                "httpServer.ssl.keyStore.password", "changeit"));
  }

  @Test
  void aFileThatIsMissingOrNotUnderstoodIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("options.yml"), "rules:\n- pattern: x\n");

    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgentOptions.parse("config=" + file))
        .withMessageContaining("unknown option");
    assertThatIOException()
        .isThrownBy(() -> AgentOptions.parse("config=" + directory.resolve("none")))
        .withMessageContaining("none");
  }
}
