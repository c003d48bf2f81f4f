package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.model.CallSite.Ages;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SampledAgesTest {

  private static final long NOW = Duration.ofDays(100).toNanos();

  private final ByteBuffer objects = Structs.allocate(8 * Abi.Object.BYTES);
  private int count;

  @Test
  void quantilesAreWeightedByTheBytesThatSamplesStandFor() {
    add(1, 100, 1, Duration.ofSeconds(3));
    add(1, 100, 0.0625, Duration.ofSeconds(2));
    add(1, 100, 1, Duration.ofSeconds(1));
    add(2, 100, 1, Duration.ofSeconds(7));

    SampledAges ages = SampledAges.of(objects, count, NOW);
    assertThat(ages.at(1)).isEqualTo(new Ages(2, 2, 3));
    assertThat(ages.at(2)).isEqualTo(new Ages(7, 7, 7));
  }

  @Test
  void whatIsMonthsOldIsOlderThanWhatIsNew() {
    add(1, 100, 1, Duration.ofDays(60));
    add(1, 100, 1, Duration.ofDays(30));
    add(1, 100, 1, Duration.ofSeconds(1));

    assertThat(SampledAges.of(objects, count, NOW).at(1))
        .isEqualTo(
            new Ages(
                Duration.ofDays(30).toSeconds(),
                Duration.ofDays(60).toSeconds(),
                Duration.ofDays(60).toSeconds()));
  }

  @Test
  void aSiteInThePlaceOfAForgottenOneHasItsOwnAges() {
    int later = 1 + 3 * SampledObject.MOST_SITES;
    add(later, 100, 1, Duration.ofSeconds(7));

    assertThat(SampledAges.of(objects, count, NOW).at(later)).isEqualTo(new Ages(7, 7, 7));
  }

  @Test
  void agesOfASiteWithoutLiveSamplesAreUnknown() {
    add(2, 100, 1, Duration.ofSeconds(7));

    SampledAges ages = SampledAges.of(objects, count, NOW);
    assertThat(ages.at(1)).isEqualTo(Ages.UNKNOWN);
    assertThat(ages.at(3)).isEqualTo(Ages.UNKNOWN);
    assertThat(SampledAges.of(objects, 0, NOW).at(0)).isEqualTo(Ages.UNKNOWN);
  }

  /**
   * An object has 0 bytes if the program requested 0 bytes and the library stores requested sizes.
   */
  @Test
  void objectsOfNoBytesHaveAges() {
    add(1, 0, 1, Duration.ofSeconds(3));

    assertThat(SampledAges.of(objects, count, NOW).at(1)).isEqualTo(new Ages(3, 3, 3));
  }

  private void add(int site, long bytes, double probability, Duration age) {
    int at = count++ * Abi.Object.BYTES;
    objects.putLong(at + Abi.Object.BYTES_AT, bytes);
    objects.putDouble(at + Abi.Object.PROBABILITY_AT, probability);
    objects.putLong(at + Abi.Object.BORN_NS_AT, NOW - age.toNanos());
    objects.putInt(at + Abi.Object.SITE_AT, site);
  }
}
