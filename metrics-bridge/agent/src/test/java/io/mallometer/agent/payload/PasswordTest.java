package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PasswordTest {

  private static final String PREFIX = "http-server.authentication.basic.";

  @Test
  void aPasswordAsItIs() {
    Password password = password("password", "secret");

    assertThat(password.checkCredentials("Prometheus", "secret")).isTrue();
    assertThat(password.checkCredentials("Prometheus", "Secret")).isFalse();
    assertThat(password.checkCredentials("prometheus", "secret")).isFalse();
    assertThat(password.checkCredentials("Prometheus", "")).isFalse();
  }

  /** Uses the example in the documentation of jmx_exporter. */
  @Test
  void aHashThatJmxExporterTakes() {
    Password password =
        password(
            "password-hash",
            "2bf7ed4906ac065bde39f7508d6102a6cdd7153a929ea883ff6cd04442772c99",
            "algorithm",
            "SHA-256",
            "salt",
            "U9i%=N+m]#i9yvUV:bA/3n4X9JdPXf=n");

    assertThat(password.checkCredentials("Prometheus", "secret")).isTrue();
    assertThat(password.checkCredentials("Prometheus", "secret2")).isFalse();
  }

  /** Uses vector 2 of RFC 6070. */
  @Test
  void aDerivedKeyWithColons() {
    Password password =
        password(
            "password-hash",
            "EA:6C:01:4D:C7:2D:6F:8C:CD:1E:D9:2A:CE:1D:41:F0:D8:DE:89:57",
            "algorithm",
            "PBKDF2WithHmacSHA1",
            "salt",
            "salt",
            "iterations",
            "2");

    assertThat(password.checkCredentials("Prometheus", "password")).isTrue();
    assertThat(password.checkCredentials("Prometheus", "secret")).isFalse();
  }

  @Test
  void whatDoesNotBelongTogetherIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Given.server(Map.of(PREFIX + "username", "Prometheus")))
        .withMessage(PREFIX + "password is missing");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> password("password-hash", "00", "algorithm", "SHA-256"))
        .withMessage(PREFIX + "salt is missing");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> password("password-hash", "00", "algorithm", "ROT13", "salt", "x"))
        .withMessageContaining("ROT13");
  }

  private static Password password(String... options) {
    Map<String, String> all = new HashMap<>(Map.of(PREFIX + "username", "Prometheus"));
    for (int i = 0; i < options.length; i += 2) {
      all.put(PREFIX + options[i], options[i + 1]);
    }
    return new Password(Given.server(all).login().orElseThrow());
  }
}
