package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.leak.evidence.SampledObject;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class SamplesBySiteTest {

  @Test
  void aSiteHasItsSamplesInTheOrderInWhichTheyWere() {
    SamplesBySite samples =
        new SamplesBySite(List.of(born(7, 1), born(0, 2), born(7, 3), born(2, 4), born(0, 5)));

    assertThat(samples.of(0)).extracting(SampledObject::bornNanos).containsExactly(2L, 5L);
    assertThat(samples.of(7)).extracting(SampledObject::bornNanos).containsExactly(1L, 3L);
    assertThat(samples.of(2)).hasSize(1);
    assertThat(samples.of(1)).isEmpty();
    assertThat(samples.of(8)).isEmpty();
  }

  @Test
  void aSiteInThePlaceOfAForgottenOneHasItsOwnSamplesAndMakesNoArrayLarge() {
    int later = 1 + 5 * 16_384;
    SamplesBySite samples = new SamplesBySite(List.of(born(later, 1), born(0, 2)));

    assertThat(samples.of(later)).hasSize(1);
    assertThat(samples.of(1)).isEmpty();
    assertThat(samples.bytes()).hasSize(2).containsExactly(64, 64);
    assertThat(samples.anyInSlot(later)).isFalse();
  }

  private static SampledObject born(int site, long nanos) {
    return new SampledObject(site, 64, 1, 0, nanos, 0);
  }
}
