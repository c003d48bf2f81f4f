package io.mallometer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.FaceContract;
import io.mallometer.SitesByHand;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class CallSitesTest {

  private final CallSites three = SitesByHand.three();

  @Test
  void groupsAddUpTheirSites() {
    SiteGroup zip = three.groupedBy(Grouping.LIBRARY).get(0);

    assertThat(zip.key()).isEqualTo("libzip.so");
    assertThat(zip.sites()).isEqualTo(2);
    assertThat(zip.samples()).isEqualTo(80);
    assertThat(zip.liveBytes().value()).isEqualTo(350_000);
    assertThat(zip.liveObjects().value()).isEqualTo(35_000);
    assertThat(zip.allocatedBytes().value()).isEqualTo(700_000);
    assertThat(zip.allocatedObjects().value()).isEqualTo(70_000);
    assertThat(zip.bytesPerSecond()).isNaN();
  }

  /**
   * The variances of the sites are 30,000² and 5,000². They add up to a standard deviation of
   * 30,414 bytes.
   *
   * <p>A normal distribution would put the upper end 59,611 bytes above the value. The interval
   * uses a gamma distribution, whose upper end is higher.
   */
  @Test
  void theIntervalOfAGroupIsThatOfIndependentSums() {
    Estimate live = three.groupedBy(Grouping.LIBRARY).get(0).liveBytes();

    assertThat(live.high() - live.value()).isEqualTo(67_809.6, within(0.1));
  }

  /**
   * The call sites have 550,000 bytes in 55,000 objects. A size word of glibc takes another 8 bytes
   * for each object.
   */
  @Test
  void whatWasAllocatedBeforeAnAttachIsWhatSitesDoNotExplain() {
    CallSites.Origin known = origin(new Baseline(5_000_000, 300_000));
    assertThat(known.allocatedBeforeBytes()).isEqualTo(4_700_000 - 550_000 - 8 * 55_000);
    assertThat(known.sentence())
        .isEqualTo(
            "Attached at 2026-01-01T00:00:00Z: earlier allocations belong to no call site, about"
                + " 3.5 MiB of live memory");

    CallSites.Origin little = origin(new Baseline(400_000, 10_000));
    assertThat(little.allocatedBeforeBytes()).isZero();
  }

  @Test
  void theEarlierBytesAreUnknownIfTheAttachCouldNotReadThem() {
    CallSites.Origin unknown = origin(new Baseline(Double.NaN, 9e6));

    assertThat(unknown.allocatedBeforeBytes()).isNaN();
    assertThat(unknown.sentence()).endsWith("earlier allocations belong to no call site");
    assertThat(three.origin().sentence()).isEmpty();
  }

  private CallSites.Origin origin(Baseline baseline) {
    return three
        .since(FaceContract.attachedReport(), FaceContract.attachedCounters(baseline))
        .origin();
  }

  @Test
  void groupsAreByNameLibraryFrameOrPackage() {
    assertThat(keys(Grouping.SITE))
        .containsExactly("com.shop.Cart.zip", "com.shop.Store.open", "com.shop.pdf.Printer.print");
    assertThat(keys(Grouping.LIBRARY)).containsExactly("libzip.so", "librocksdbjni.so");
    assertThat(keys(Grouping.FRAME))
        .containsExactly("com.shop.Cart.zip", "com.shop.Store.open", "com.shop.pdf.Printer.print");
    assertThat(keys(Grouping.PACKAGE)).containsExactly("com.shop", "com.shop.pdf");
  }

  @Test
  void withoutAJavaFrameThePackageIsTheLibrary() {
    assertThat(with(List.of(StackFrame.ofLibrary("libz.so", "deflate", 1))).topPackage())
        .isEqualTo("libz.so");
    assertThat(Grouping.PACKAGE.keyOf(with(List.of()))).isEqualTo("[unknown]");
  }

  @Test
  void aHiddenClassIsInThePackageOfItsHost() {
    StackFrame frame = StackFrame.ofJava("com.shop.Cart$$Lambda/0x0.7f", "run", "", 0);
    assertThat(with(List.of(frame)).topPackage()).isEqualTo("com.shop");
  }

  @Test
  void aTextIsFoundInNameLibraryAndEveryFrame() {
    assertThat(three.mentioning("CART").sites()).hasSize(1);
    assertThat(three.mentioning("rocks").sites()).hasSize(1);
    assertThat(three.mentioning("some.java:12").sites()).hasSize(3);
    assertThat(three.mentioning("nowhere").sites()).isEmpty();
  }

  @Test
  void theSitesOfTheApplicationAreWithoutMallometers() {
    CallSite shop = SitesByHand.site(1, "com.shop.Cart.zip", "libzip.so", 900);
    CallSite own = SitesByHand.site(2, "io.mallometer.internal.engine.Poller.run", "libjvm.so", 9);

    assertThat(SitesByHand.reading(shop, own).ofApplication().sites()).containsExactly(shop);
  }

  @Test
  void sitesAreSortedByAnyFigureAndTheUnknownComesLast() {
    CallSite slow = SitesByHand.site(1, "a.B.c", "x", 900).withRate(1, 60);
    CallSite fast = SitesByHand.site(2, "a.B.d", "x", 100).withRate(9, 60);
    CallSite unknown = SitesByHand.site(3, "a.B.e", "x", 500);
    CallSites sites = SitesByHand.reading(slow, fast, unknown);

    assertThat(sites.sortedBy(SiteOrder.RATE)).containsExactly(fast, slow, unknown);
    for (SiteOrder order :
        List.of(
            SiteOrder.LIVE,
            SiteOrder.LIVE_OBJECTS,
            SiteOrder.ALLOCATED,
            SiteOrder.ALLOCATED_OBJECTS)) {
      assertThat(sites.sortedBy(order)).containsExactly(slow, unknown, fast);
    }
  }

  private List<String> keys(Grouping grouping) {
    return three.groupedBy(grouping).stream().map(SiteGroup::key).toList();
  }

  private static CallSite with(List<StackFrame> frames) {
    return new CallSite(
        1,
        frames,
        "",
        "",
        0,
        Estimate.ZERO,
        Estimate.ZERO,
        Estimate.ZERO,
        Estimate.ZERO,
        Double.NaN,
        Double.NaN,
        CallSite.Ages.UNKNOWN);
  }
}
