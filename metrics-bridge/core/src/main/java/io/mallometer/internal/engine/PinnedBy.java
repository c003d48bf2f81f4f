package io.mallometer.internal.engine;

import io.mallometer.internal.interposer.Neighbours;
import io.mallometer.internal.text.Words;
import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.PinnedMemory;
import io.mallometer.model.PinningSite;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * From the free chunks beside live samples to the call sites that pin free memory.
 *
 * <p>Each free chunk lies between two objects, and half of it is put down to each. So the free
 * memory between objects is the sum over all live objects of half of what lies on either side, and
 * samples estimate that sum like any other: one of probability p counts 1/p times, with the
 * variance (1/p)(1/p - 1) x^2. Samples in page slots lie in no heap, and of some nothing is known;
 * the site's other samples stand for them, in the proportion of its live objects to those samples'.
 */
final class PinnedBy {

  /** A site with fewer samples, or a wider interval, is not named. */
  static final int FEWEST_SAMPLES = 5;

  static final double LEAST_LOW = 0.25;

  private static final double NANOS = 1e9;

  private PinnedBy() {}

  /**
   * Concludes.
   *
   * @param sites all call sites, with names
   * @param retainedBytes what the allocator says is free; {@code NaN} if it does not
   * @param nowNanos the clock of {@link Neighbours#bornNanos}
   */
  static PinnedMemory of(
      List<Neighbours> neighbours,
      List<CallSite> sites,
      double retainedBytes,
      Instant time,
      long nowNanos,
      double costSeconds) {
    Map<Integer, Sum> sums = new HashMap<>();
    for (Neighbours one : neighbours) {
      if (one.known() && one.probability() > 0) {
        sums.computeIfAbsent(one.site(), site -> new Sum()).add(one, nowNanos);
      }
    }
    Map<Integer, CallSite> byNumber = new HashMap<>();
    sites.forEach(site -> byNumber.put(site.number(), site));
    Estimate bytes = Estimate.ZERO;
    Estimate stuck = Estimate.ZERO;
    Estimate returnable = Estimate.ZERO;
    Map<String, PinningSite> named = new HashMap<>();
    for (Map.Entry<Integer, Sum> entry : sums.entrySet()) {
      CallSite site = byNumber.get(entry.getKey());
      Sum sum = entry.getValue();
      double scale = site == null ? 1 : sum.scale(site.liveObjects().value());
      bytes = bytes.plus(sum.bytes.estimate(scale));
      stuck = stuck.plus(sum.stuck.estimate(scale));
      returnable = returnable.plus(sum.returnable.estimate(scale));
      if (site != null && sum.bytes.value > 0) {
        named.merge(site.name(), sum.site(site, scale), PinnedBy::together);
      }
    }
    List<PinningSite> largest =
        named.values().stream()
            .filter(PinnedBy::enough)
            .sorted(
                Comparator.comparingDouble((PinningSite site) -> site.bytes().value()).reversed())
            .limit(PinnedMemory.MOST_SITES)
            .toList();
    return new PinnedMemory(
        time,
        sentence(bytes, stuck, largest, retainedBytes),
        bytes.atMost(retainedBytes),
        returnable.atMost(retainedBytes),
        stuck.atMost(retainedBytes),
        largest,
        costSeconds);
  }

  private static boolean enough(PinningSite site) {
    Estimate bytes = site.bytes();
    return bytes.samples() >= FEWEST_SAMPLES && bytes.low() >= LEAST_LOW * bytes.value();
  }

  /** Two stacks of one name. The age is that of the one with more memory. */
  private static PinningSite together(PinningSite one, PinningSite other) {
    return new PinningSite(
        one.site(),
        one.library(),
        one.objects().plus(other.objects()),
        one.bytes().plus(other.bytes()),
        one.stuckBytes().plus(other.stuckBytes()),
        one.bytes().value() >= other.bytes().value()
            ? one.medianAgeSeconds()
            : other.medianAgeSeconds());
  }

  private static String sentence(
      Estimate bytes, Estimate stuck, List<PinningSite> sites, double retainedBytes) {
    if (sites.isEmpty() || !(bytes.value() > 0)) {
      return "Not enough evidence: too few live samples lie beside free memory.";
    }
    PinningSite first = sites.get(0);
    double whole = bytes.value();
    return "%s (%s to %s) of %s free memory between objects%s lies beside %s objects of %s, half of it beside objects older than %s; no trim gives back %s of that."
        .formatted(
            Words.share(first.bytes().value() / whole),
            Words.share(Math.min(1, first.bytes().low() / whole)),
            Words.share(Math.min(1, first.bytes().high() / whole)),
            Words.bytes(whole),
            Double.isNaN(retainedBytes)
                ? ""
                : " (the allocator retains " + Words.bytes(retainedBytes) + ")",
            Words.number(first.objects().value()),
            first.site(),
            Words.roughly(Duration.ofSeconds((long) first.medianAgeSeconds())),
            Words.bytes(first.stuckBytes().value()));
  }

  /** A sum over samples, before it is scaled. */
  private static final class Weighed {
    double value;
    double variance;
    long samples;

    void add(double weight, double amount) {
      if (amount > 0) {
        value += weight * amount;
        variance += weight * (weight - 1) * amount * amount;
        samples++;
      }
    }

    Estimate estimate(double scale) {
      return new Estimate(scale * value, scale * scale * variance, samples);
    }
  }

  /** That of a site. */
  private static final class Sum {
    final Weighed bytes = new Weighed();
    final Weighed stuck = new Weighed();
    final Weighed returnable = new Weighed();
    final Weighed beside = new Weighed();
    double known;
    final List<double[]> ages = new ArrayList<>();

    void add(Neighbours one, long nowNanos) {
      double weight = 1 / one.probability();
      double resident = one.before().residentBytes() / 2.0;
      double whole = one.before().returnableBytes() / 2.0;
      if (!one.last()) {
        resident += one.after().residentBytes() / 2.0;
        whole += one.after().returnableBytes() / 2.0;
      }
      known += weight;
      bytes.add(weight, resident);
      returnable.add(weight, whole);
      stuck.add(weight, resident - whole);
      beside.add(weight, resident > 0 ? 1 : 0);
      ages.add(new double[] {(nowNanos - one.bornNanos()) / NANOS, weight * resident});
    }

    double scale(double liveObjects) {
      return known > 0 && liveObjects > known ? liveObjects / known : 1;
    }

    PinningSite site(CallSite site, double scale) {
      return new PinningSite(
          site.name(),
          site.library(),
          beside.estimate(scale),
          bytes.estimate(scale),
          stuck.estimate(scale),
          medianAge());
    }

    private double medianAge() {
      ages.sort(Comparator.comparingDouble(age -> -age[0]));
      double passed = 0;
      for (double[] age : ages) {
        passed += age[1];
        if (passed >= bytes.value / 2) {
          return age[0];
        }
      }
      return Double.NaN;
    }
  }
}
