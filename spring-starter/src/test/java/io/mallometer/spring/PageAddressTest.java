package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

class PageAddressTest {

  private static String address(Map<String, Object> properties) {
    StandardEnvironment environment = new StandardEnvironment();
    environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
    return PageAddress.address("/actuator/nativememory", environment);
  }

  @Test
  void itIsTheAddressOfTheServerThatHasTheEndpoint() {
    assertThat(address(Map.of("local.server.port", "80")))
        .isEqualTo("http://localhost:80/actuator/nativememory/page");
    assertThat(address(Map.of("local.server.port", "80", "server.address", "0.0.0.0")))
        .startsWith("http://localhost:80/");
    assertThat(address(Map.of("local.server.port", "80", "server.address", "::1")))
        .startsWith("http://[::1]:80/");
    assertThat(
            address(
                Map.of(
                    "local.server.port", "80",
                    "server.address", "10.0.0.1",
                    "local.management.port", "81",
                    "management.server.address", "10.0.0.2")))
        .startsWith("http://10.0.0.2:81/");
  }
}
