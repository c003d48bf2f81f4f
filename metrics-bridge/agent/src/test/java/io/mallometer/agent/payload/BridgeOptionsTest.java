package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.model.LeakOptions;
import io.mallometer.model.LeakProfile;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the agent's options mean to the bridge. */
class BridgeOptionsTest {

  @Test
  void noneAreTheDefaults() {
    assertThat(BridgeOptions.of(Map.of())).isEqualTo(MallometerOptions.defaults());
  }

  @Test
  void eachIsPassedOn() {
    MallometerOptions options =
        BridgeOptions.of(
            Map.of(
                "record", "/tmp/recording",
                "limit", "512m",
                "version", "2.3.1",
                "sites.applicationPackages", "com.shop org.cart",
                "leak.profile", "real-time",
                "leak.longestTimeout", "2h",
                "leak.healthySites", "com.shop.Catalogue.load, com.shop.cache.*",
                "leak.healthySitesFile", "/var/lib/shop/healthy"));

    assertThat(options.recordPath()).contains(Path.of("/tmp/recording"));
    assertThat(options.limitBytes()).hasValue(512L << 20);
    assertThat(options.applicationVersion()).contains("2.3.1");
    assertThat(options.applicationPackages()).containsExactly("com.shop", "org.cart");
    assertThat(options.leaks())
        .isEqualTo(
            LeakOptions.defaults()
                .withProfile(LeakProfile.REAL_TIME)
                .withLongestTimeout(Duration.ofHours(2))
                .withHealthySites(List.of("com.shop.Catalogue.load", "com.shop.cache.*"))
                .withHealthySitesFile(Path.of("/var/lib/shop/healthy")));
  }

  @Test
  void eachMonitorIsStarted() {
    assertThat(BridgeOptions.monitors(Map.of("record", "/tmp/recording"))).isEmpty();
    assertThat(
            BridgeOptions.monitors(
                Map.of(
                    "monitor.threshold", "200m",
                    "monitor.present", "2g",
                    "monitor.returned", "true",
                    "monitor.periodic", "/tmp/memory.csv")))
        .containsExactlyInAnyOrder(
            MonitorOptions.threshold(200L << 20),
            MonitorOptions.present(2L << 30),
            MonitorOptions.returned(),
            MonitorOptions.periodic(Path.of("/tmp/memory.csv")));
    assertThatThrownBy(() -> BridgeOptions.monitors(Map.of("monitor.present", "much")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("present is \"much\"");
  }

  @Test
  void leaksNeedNotBeLookedFor() {
    assertThat(BridgeOptions.of(Map.of("leak.enabled", "false")).leaks().enabled()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"30", "soon", "-5m", "1y", "99999999999999999999h"})
  void aTimeoutWithoutAUnitIsRefused(String text) {
    assertThatThrownBy(() -> BridgeOptions.of(Map.of("leak.longestTimeout", text)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("leak.longestTimeout is \"" + text + "\"")
        .hasMessageContaining("such as 90s, 45m or 2h");
  }

  @ParameterizedTest
  @ValueSource(strings = {"512", "much", "0m", "-1g", "1x", "9999999999t"})
  void aLimitWithoutAUnitIsRefused(String text) {
    assertThatThrownBy(() -> BridgeOptions.of(Map.of("limit", text)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("limit is \"" + text + "\"")
        .hasMessageContaining("such as 512m or 2g");
  }

  @Test
  void anUnknownProfileIsRefused() {
    assertThatThrownBy(() -> BridgeOptions.of(Map.of("leak.profile", "eager")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("real-time, interactive, service, batch");
  }
}
