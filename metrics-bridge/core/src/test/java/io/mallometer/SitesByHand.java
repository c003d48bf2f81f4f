package io.mallometer;

import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.SiteOrder;
import io.mallometer.model.StackFrame;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Creates call sites with numbers that a test chooses. */
public final class SitesByHand {

  private static final Instant TIME = Instant.parse("2026-01-01T00:00:00Z");

  private SitesByHand() {}

  public static CallSites reading(CallSite... sites) {
    return reading(TIME, Arrays.asList(sites));
  }

  public static CallSites reading(Instant time, List<CallSite> sites) {
    List<CallSite> sorted = new ArrayList<>(sites);
    sorted.sort(SiteOrder.LIVE.comparator());
    return new CallSites(
        time, sorted, 77, Map.of("no_site", 5L, "not_followed", 3L), ByteUnit.GLIBC_CHUNK, "");
  }

  /**
   * Returns a site with a library frame on top of a Java frame. The variance of each estimate
   * {@code e} is {@code e * e / 100}.
   */
  public static CallSite site(int number, String name, String library, double liveBytes) {
    int dot = name.lastIndexOf('.');
    return new CallSite(
        number,
        List.of(
            StackFrame.ofLibrary(library, "allocate", 31),
            StackFrame.ofJava(
                dot < 0 ? name : name.substring(0, dot), name.substring(dot + 1), "Some.java", 12)),
        name,
        library,
        40,
        estimate(liveBytes / 5),
        estimate(2 * liveBytes),
        estimate(liveBytes / 10),
        estimate(liveBytes),
        estimate(0.75 * liveBytes),
        Double.NaN,
        Double.NaN,
        new CallSite.Ages(10, 60, 3_600));
  }

  /** Returns a site whose resident bytes are unknown, as if the page table could not be read. */
  public static CallSite withoutResident(CallSite site) {
    return new CallSite(
        site.number(),
        site.frames(),
        site.name(),
        site.library(),
        site.samples(),
        site.allocatedObjects(),
        site.allocatedBytes(),
        site.liveObjects(),
        site.liveBytes(),
        site.bytesPerSecond(),
        site.rateSeconds(),
        site.ages());
  }

  public static CallSites three() {
    return reading(
        site(7, "com.shop.Cart.zip", "libzip.so", 300_000),
        site(8, "com.shop.Store.open", "librocksdbjni.so", 200_000),
        site(9, "com.shop.pdf.Printer.print", "libzip.so", 50_000));
  }

  private static Estimate estimate(double value) {
    return new Estimate(value, value * value / 100, 40);
  }
}
