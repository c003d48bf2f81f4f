package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ProcessTag;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ProcessTagTest {

  @Test
  void aTestThatStartsAProcessCarriesTheTag() {
    assertThat(ProcessTag.missing()).isEmpty();
  }
}
