package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mallometer.model.LeakWorkload;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentSettingsTest {

  @Test
  void noneAreTheDefaults() {
    assertThat(AgentSettings.of(Map.of(), Map.of())).isEqualTo(MallometerOptions.defaults());
  }

  @Test
  void eachIsPassedOn() {
    MallometerOptions options =
        AgentSettings.of(
            Map.of(
                "recording", "/tmp/recording",
                "limit", "512m",
                "version", "2.3.1",
                "sites.application-packages", "com.shop org.cart",
                "leak.workload", "real-time",
                "leak.longest-timeout", "2h",
                "leak.acknowledged-sites", "com.shop.Catalogue.load, com.shop.cache.*",
                "leak.acknowledged-sites-file", "/var/lib/shop/acknowledged"),
            Map.of());

    assertThat(options)
        .isEqualTo(
            MallometerOptions.defaults()
                .with(Setting.RECORDING, Path.of("/tmp/recording"))
                .with(Setting.LIMIT, 512L << 20)
                .with(Setting.VERSION, "2.3.1")
                .with(Setting.APPLICATION_PACKAGES, List.of("com.shop", "org.cart"))
                .with(Setting.LEAK_WORKLOAD, LeakWorkload.REAL_TIME)
                .with(Setting.LEAK_LONGEST_TIMEOUT, Duration.ofHours(2))
                .with(
                    Setting.LEAK_ACKNOWLEDGED_SITES,
                    List.of("com.shop.Catalogue.load", "com.shop.cache.*"))
                .with(Setting.LEAK_ACKNOWLEDGED_SITES_FILE, Path.of("/var/lib/shop/acknowledged")));
  }

  @Test
  void aVariableIsReadUnlessThereIsAnOption() {
    Map<String, String> environment =
        Map.of("MALLOMETER_POLL_INTERVAL", "1s", "MALLOMETER_LIMIT", "1g", "MALLOMETER_HOST", "");

    assertThat(AgentSettings.of(Map.of("limit", "2g"), environment))
        .isEqualTo(
            MallometerOptions.defaults()
                .with(Setting.LIMIT, 2L << 30)
                .with(Setting.POLL_INTERVAL, Duration.ofSeconds(1)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgentSettings.of(Map.of(), Map.of("MALLOMETER_LIMIT", "much")))
        .withMessageStartingWith("MALLOMETER_LIMIT is \"much\" and must be");
  }

  /**
   * The agent must ignore the library's own variables, and the address that Kubernetes puts into
   * MALLOMETER_PORT for a service named mallometer.
   */
  @Test
  void variablesOfOtherReadersAreNotRead() {
    assertThat(
            AgentSettings.of(
                Map.of(),
                Map.of(
                    "MALLOMETER_ATTACH", "offf",
                    "MALLOMETER_MAX_SCOPES", "none",
                    "MALLOMETER_PORT", "tcp://10.0.0.1:9464")))
        .isEqualTo(MallometerOptions.defaults());
  }

  @ParameterizedTest
  @ValueSource(strings = {"path", "max-scopes", "sample-interval", "leak.longestTimeout"})
  void anOptionThatTheAgentDoesNotHaveIsRefused(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgentSettings.of(Map.of(name, "1"), Map.of()))
        .withMessageContaining("unknown option \"" + name + "\"; the options are enabled, attach,");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "65536", "x"})
  void aPortIsANumber(String port) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgentSettings.of(Map.of("port", port), Map.of()))
        .withMessageStartingWith("port is \"" + port + "\" and must be");
  }
}
