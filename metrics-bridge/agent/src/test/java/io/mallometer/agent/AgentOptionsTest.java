package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentOptionsTest {

  @Test
  void nothingMeansNoPort() {
    assertThat(AgentOptions.parse(""))
        .isEqualTo(new AgentOptions(OptionalInt.empty(), "127.0.0.1", ""));
  }

  @Test
  void theFileToRecordIntoIsAPath() {
    assertThat(AgentOptions.parse("record=/var/lib/app/box").record())
        .isEqualTo("/var/lib/app/box");
  }

  @Test
  void onlyTheLoopbackAddressIsServedUnlessSaidOtherwise() {
    assertThat(AgentOptions.parse("port=9464").host()).isEqualTo("127.0.0.1");
    assertThat(AgentOptions.parse("port=9464, host=0.0.0.0"))
        .isEqualTo(new AgentOptions(OptionalInt.of(9464), "0.0.0.0", ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"port", "port=", "port=0", "port=65536", "port=x", "9464", "path=/m"})
  void whatIsNotUnderstoodIsRefused(String options) {
    assertThatIllegalArgumentException().isThrownBy(() -> AgentOptions.parse(options));
  }
}
