package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ProcessTag;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/**
 * Does not run in the matrix of Spring Boot versions, because ArchUnit is not on its class path.
 */
@Tag("any-jdk")
@DisabledIfSystemProperty(named = "matrix.boot", matches = ".+")
class ProcessTagTest {

  @Test
  void aTestThatStartsAProcessCarriesTheTag() {
    assertThat(ProcessTag.missing()).isEmpty();
  }
}
