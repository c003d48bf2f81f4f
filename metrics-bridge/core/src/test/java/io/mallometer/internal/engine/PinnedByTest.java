package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.internal.interposer.Neighbours;
import io.mallometer.internal.interposer.Neighbours.Side;
import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.PinnedMemory;
import io.mallometer.model.PinningSite;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Free chunks beside samples, with figures worked out by hand. */
class PinnedByTest {

  private static final Side NOTHING = new Side(0, 0, 0);
  private static final long SECOND = 1_000_000_000L;

  @Test
  void halfOfEachFreeChunkIsPutDownToTheObjectBesideIt() {
    // 8 samples of probability 1/2: 2 * 8 * (10,000 + 6,000) / 2 bytes, of which 4,096 / 2 whole
    // pages before and none behind.
    PinnedMemory pinned = pinned(repeat(8, neighbour(1, 0.5, false)), site(1, "pin", 16));
    PinningSite first = pinned.sites().get(0);
    assertThat(first.bytes().value()).isEqualTo(128_000);
    assertThat(first.stuckBytes().value()).isEqualTo(128_000 - 2 * 8 * 2048);
    // 8 * w (w - 1) x^2 with w = 2, x = 8,000.
    assertThat(first.bytes().variance()).isEqualTo(8 * 2 * 64e6);
    assertThat(first.site()).isEqualTo("pin");
    assertThat(first.objects().value()).isEqualTo(16);
    assertThat(first.medianAgeSeconds()).isCloseTo(60, within(1e-9));
  }

  @Test
  void whatIsFreeAtTheEndOfAHeapIsPinnedByNothing() {
    PinnedMemory pinned = pinned(repeat(8, neighbour(1, 1, true)), site(1, "pin", 8));
    assertThat(pinned.sites().get(0).bytes().value()).isEqualTo(8 * 5_000);
  }

  @Test
  void samplesInSlotsAreStoodForByTheOthersOfTheirSite() {
    PinnedMemory pinned = pinned(256_000, repeat(8, neighbour(1, 0.5, false)), site(1, "pin", 32));
    assertThat(pinned.sites().get(0).bytes().value()).isEqualTo(256_000);
  }

  @Test
  void fewSamplesAreNotEnoughEvidence() {
    PinnedMemory pinned = pinned(repeat(2, neighbour(1, 0.01, false)), site(1, "pin", 200));
    assertThat(pinned.sites()).isEmpty();
    assertThat(pinned.sentence()).startsWith("Not enough evidence");
  }

  /** Of 320,000 bytes samples lie beside 128,000: another site may have the rest. */
  @Test
  void noSiteIsNamedIfAnotherMayHaveMore() {
    PinnedMemory pinned = pinned(320_000, repeat(8, neighbour(1, 0.5, false)), site(1, "pin", 16));
    assertThat(pinned.sites()).isEmpty();
    assertThat(pinned.sentence())
        .isEqualTo(
            "Not enough evidence: live samples lie beside 125 KiB of 313 KiB free memory between objects, and those of no call site beside half of it.");
    assertThat(pinned.bytes().value()).isEqualTo(320_000);
  }

  @Test
  void whatHasNoSamplesMayBeAnySites() {
    PinnedMemory pinned = pinned(200_000, repeat(200, neighbour(1, 1, true)), site(1, "pin", 200));
    Estimate all = pinned.sites().get(0).share();
    assertThat(all.value()).isEqualTo(1);
    assertThat(all.low()).isEqualTo(1);

    Estimate part =
        pinned(1_600_000, repeat(200, neighbour(1, 1, true)), site(1, "pin", 200))
            .sites()
            .get(0)
            .share();
    // 1,000,000 of 1,600,000, and 600,000 beside objects without samples.
    assertThat(part.value()).isEqualTo(0.625);
    assertThat(part.variance()).isCloseTo(0.375 * 0.375 / 4, within(1e-9));
    assertThat(part.high()).isEqualTo(1);
  }

  @Test
  void shareIsMoreCertainThanSum() {
    // Of pin 8 samples that stand for 800 objects, of other 80 for 80: shares 10/11 and 1/11.
    List<Neighbours> both = new ArrayList<>(repeat(8, neighbour(1, 0.01, false)));
    both.addAll(repeat(80, neighbour(2, 1, false)));
    PinnedMemory pinned = pinned(both, site(1, "pin", 800), site(2, "other", 80));
    PinningSite first = pinned.sites().get(0);
    assertThat(first.site()).isEqualTo("pin");
    // 8 * 100 * 99 * x^2 * (1/11)^2 / (880 x)^2
    assertThat(first.share().value()).isCloseTo(10 / 11.0, within(1e-9));
    assertThat(first.share().variance())
        .isCloseTo(8 * 100 * 99 / 121.0 / (880 * 880), within(1e-12));
    assertThat(first.share().high()).isLessThanOrEqualTo(1);
    assertThat(first.bytes().low()).isLessThan(0.5 * first.bytes().value());
  }

  @Test
  void sumAboveWhatIsRetainedIsReducedToItWithItsParts() {
    PinnedMemory pinned =
        PinnedBy.of(
            repeat(8, neighbour(1, 0.5, false)),
            List.of(site(1, "pin", 16)),
            free(64_000),
            Instant.EPOCH,
            60 * SECOND,
            0.001);
    assertThat(pinned.bytes().value()).isEqualTo(64_000);
    assertThat(pinned.returnableBytes().value() + pinned.stuckBytes().value()).isEqualTo(64_000);
    assertThat(pinned.sites().get(0).bytes().value()).isEqualTo(64_000);
    assertThat(pinned.sites().get(0).objects().value()).isEqualTo(16);
  }

  @Test
  void objectsOfWhichNothingIsKnownCountForNothing() {
    Neighbours unknown = new Neighbours(1, false, false, 1, 0, NOTHING, NOTHING);
    PinnedMemory pinned = pinned(repeat(100, unknown), site(1, "pin", 100));
    assertThat(pinned.sites()).isEmpty();
  }

  @Test
  void theSiteWithMostFreeMemoryBesideItIsFirst() {
    List<Neighbours> both = new ArrayList<>(repeat(30, neighbour(1, 1, false)));
    both.addAll(repeat(60, neighbour(2, 1, true)));
    PinnedMemory pinned = pinned(both, site(1, "little", 30), site(2, "much", 60));
    assertThat(pinned.sites()).extracting(PinningSite::site).containsExactly("much", "little");
    assertThat(pinned.sentence()).contains("much").doesNotContain("little");
  }

  private static Neighbours neighbour(int site, double probability, boolean last) {
    return new Neighbours(
        site,
        true,
        last,
        probability,
        0,
        new Side(10_000, 10_000, 4096),
        new Side(6_000, 6_000, 0));
  }

  private static List<Neighbours> repeat(int times, Neighbours one) {
    return Collections.nCopies(times, one);
  }

  private static CallSite site(int number, String name, double objects) {
    Estimate live = new Estimate(objects, 0, 1);
    return new CallSite(
        number,
        List.of(),
        name,
        "",
        1,
        live,
        live,
        live,
        live,
        Double.NaN,
        Double.NaN,
        CallSite.Ages.UNKNOWN);
  }

  /** As much free memory between objects as lies beside samples. */
  private static PinnedMemory pinned(List<Neighbours> neighbours, CallSite... sites) {
    return pinned(0, neighbours, sites);
  }

  private static PinnedMemory pinned(double free, List<Neighbours> neighbours, CallSite... sites) {
    double beside = 0;
    for (Neighbours one : neighbours) {
      beside += one.known() ? (one.last() ? 5_000 : 8_000) / one.probability() : 0;
    }
    return PinnedBy.of(
        neighbours,
        List.of(sites),
        free(free > 0 ? free : beside),
        Instant.EPOCH,
        60 * SECOND,
        0.001);
  }

  private static FreeMemory free(double bytes) {
    return new FreeMemory(bytes, bytes, bytes, 0, bytes / 2, Double.NaN, Double.NaN, Double.NaN);
  }
}
