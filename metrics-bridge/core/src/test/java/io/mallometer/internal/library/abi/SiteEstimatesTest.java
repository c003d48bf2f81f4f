package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.model.Estimate;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** The expected values are computed by hand. */
class SiteEstimatesTest {

  private static final double INTERVAL = 524_288;

  private final ByteBuffer site = Structs.allocate(Abi.Site.BYTES);

  @Test
  void whereEverythingIsASampleTheSumsAreExact() {
    sums(Abi.Site.ALLOCATED_AT, 5, 5, 1_000, 0, 0);
    sums(Abi.Site.FREED_AT, 2, 2, 300, 0, 0);

    assertThat(allocatedBytes(1)).isEqualTo(new Estimate(1_000, 0, 5));
    assertThat(liveBytes(1)).isEqualTo(new Estimate(700, 0, 3));
  }

  /**
   * The four samples were taken with the probability 1/10. An object of 128 KiB that is allocated
   * now has the probability 1/4, because the interval is 512 KiB.
   */
  @Test
  void whatMayHaveComeSinceTheLastSampleIsAdded() {
    double size = INTERVAL / 4;
    sums(Abi.Site.ALLOCATED_AT, 4, 40, 40 * size, 4 * 90, 4 * 90 * size * size);

    assertThat(allocatedBytes(INTERVAL).value()).isEqualTo(40 * size);
    assertThat(allocatedBytes(INTERVAL).variance())
        .isCloseTo((4 * 90 + 0.75 * 10 * 10) * size * size, within(1.0));
  }

  @Test
  void ofThatTheLiveOnesHaveTheirShare() {
    sums(Abi.Site.ALLOCATED_AT, 4, 40, 40 * 64, 4 * 90, 4 * 90 * 64 * 64);
    sums(Abi.Site.FREED_AT, 3, 30, 30 * 64, 3 * 90, 3 * 90 * 64 * 64);

    assertThat(liveBytes(INTERVAL).value()).isEqualTo(10 * 64);
    assertThat(liveBytes(INTERVAL).samples()).isEqualTo(1);
    assertThat(liveBytes(INTERVAL).variance())
        .isCloseTo((90 + 100 / 4.0) * 64 * 64, within(100 * 64 * 64 * 64 / INTERVAL));
  }

  @Test
  void withoutALiveSampleThereMayStillBeOne() {
    sums(Abi.Site.ALLOCATED_AT, 4, 40, 40 * 64, 4 * 90, 4 * 90 * 64 * 64);
    sums(Abi.Site.FREED_AT, 4, 40, 40 * 64, 4 * 90, 4 * 90 * 64 * 64);

    assertThat(liveBytes(INTERVAL).value()).isZero();
    assertThat(liveBytes(INTERVAL).high()).isGreaterThan(64);
  }

  /**
   * An object has 0 bytes if the program requested 0 bytes and the library stores requested sizes.
   */
  @Test
  void aSiteOfEmptyObjectsKeepsNoGroupFromItsInterval() {
    sums(Abi.Site.ALLOCATED_AT, 4, 40, 0, 4 * 90, 0);

    assertThat(liveBytes(INTERVAL)).isEqualTo(new Estimate(0, 0, 4));
  }

  private Estimate allocatedBytes(double interval) {
    return new SiteEstimates(new Abi.Site(site), interval).allocatedBytes();
  }

  private Estimate liveBytes(double interval) {
    return new SiteEstimates(new Abi.Site(site), interval).liveBytes();
  }

  private void sums(
      int at,
      long samples,
      double objects,
      double bytes,
      double objectsVariance,
      double bytesVariance) {
    site.putLong(at + Abi.SiteSums.SAMPLES_AT, samples)
        .putDouble(at + Abi.SiteSums.OBJECTS_AT, objects)
        .putDouble(at + Abi.SiteSums.BYTES_AT, bytes)
        .putDouble(at + Abi.SiteSums.OBJECTS_VARIANCE_AT, objectsVariance)
        .putDouble(at + Abi.SiteSums.BYTES_VARIANCE_AT, bytesVariance);
  }
}
