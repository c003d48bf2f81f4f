package io.mallometer.internal.library.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttachVariableTest {

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "auto", "EARLY", "on", "true", "1"})
  void allows(String value) {
    assertThat(AttachVariable.objection(value)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "OFF", "off ", "false", "0", "no"})
  void forbids(String value) {
    assertThat(AttachVariable.objection(value)).contains("MALLOMETER_ATTACH=" + value);
  }

  @Test
  void aMistypedValueForbidsAndIsNamed() {
    assertThat(AttachVariable.objection("of"))
        .contains("MALLOMETER_ATTACH=of is none of auto, early and off");
  }
}
