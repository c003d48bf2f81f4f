package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.LeakOptions;
import io.mallometer.model.MallometerOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DifferentOptionsTest {

  private static final MallometerOptions DEFAULTS = MallometerOptions.defaults();

  @Test
  void onlyWhatDiffersIsNamed() {
    MallometerOptions other =
        DEFAULTS
            .withPollInterval(Duration.ofSeconds(1))
            .withLeaks(LeakOptions.defaults().withTimeScale(60))
            .withApplicationPackages(List.of("com.example"));

    assertThat(DifferentOptions.names(other, DEFAULTS))
        .containsExactly("pollInterval", "applicationPackages", "leaks.timeScale");
    assertThat(DifferentOptions.names(DEFAULTS, DEFAULTS)).isEmpty();
  }
}
