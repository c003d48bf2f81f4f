package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class StringPoolTest {

  private final StringPool pool = new StringPool();

  @Test
  void ofEqualStringsOneIsKeptHoweverManyThereAre() {
    String[] first = new String[10_000];
    for (int i = 0; i < first.length; i++) {
      first[i] = "name " + i;
      assertThat(pool.shared(first[i])).isSameAs(first[i]);
    }
    for (int i = 0; i < first.length; i++) {
      assertThat(pool.shared("name " + i)).isSameAs(first[i]);
    }
  }

  @Test
  void stringsOfOneHashAreToldApart() {
    assertThat("Aa".hashCode()).isEqualTo("BB".hashCode());
    assertThat(pool.shared("Aa")).isEqualTo("Aa");
    assertThat(pool.shared("BB")).isEqualTo("BB");
    assertThat(pool.shared("")).isEmpty();
  }

  @Test
  void whatIsClearedIsForgotten() {
    String first = pool.shared("name");
    pool.clear();
    String second = new String("name");
    assertThat(pool.shared(second)).isSameAs(second).isNotSameAs(first);
  }
}
