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
 *
 * <p>Rare objects have few samples of unequal weight, so that sums are uncertain. A site's share in
 * the sum is less so, since what its samples add is in both: of a share q = T/S the variance is
 * (Var T (1 - q)^2 + Var (S - T) q^2) / S^2. Sites are named by their shares. A sum above what the
 * allocator retains is reduced to it, and all parts alike.
 */
final class PinnedBy {

  /** A site with fewer samples is not named, nor one whose samples are worth fewer equal ones. */
  static final int FEWEST_SAMPLES = 5;

  static final double FEWEST_EQUAL_SAMPLES = 4;

  /** Nor one whose share may be less than this part of what it is estimated to be. */
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
    Sum all = new Sum();
    Map<String, Sum> byName = new HashMap<>();
    Map<String, CallSite> ofName = new HashMap<>();
    sums.forEach(
        (number, sum) -> {
          CallSite site = byNumber.get(number);
          if (site != null) {
            sum.scale(site.liveObjects().value());
            byName.computeIfAbsent(site.name(), name -> new Sum()).add(sum);
            ofName.putIfAbsent(site.name(), site);
          }
          all.add(sum);
        });
    double reduced = all.bytes.value > retainedBytes ? retainedBytes / all.bytes.value : 1;
    List<PinningSite> largest =
        byName.entrySet().stream()
            .filter(entry -> entry.getValue().isEnough(all))
            .sorted(
                Comparator.comparingDouble(
                        (Map.Entry<String, Sum> entry) -> entry.getValue().bytes.value)
                    .reversed())
            .limit(PinnedMemory.MOST_SITES)
            .map(entry -> entry.getValue().site(ofName.get(entry.getKey()), all, reduced))
            .toList();
    Estimate bytes = all.bytes.estimate(reduced).atMost(retainedBytes);
    return new PinnedMemory(
        time,
        sentence(bytes, largest, retainedBytes),
        bytes,
        all.returnable.estimate(reduced).atMost(retainedBytes),
        all.stuck.estimate(reduced).atMost(retainedBytes),
        largest,
        costSeconds);
  }

  private static String sentence(Estimate bytes, List<PinningSite> sites, double retainedBytes) {
    if (sites.isEmpty() || !(bytes.value() > 0)) {
      return "Not enough evidence: too few live samples lie beside free memory.";
    }
    PinningSite first = sites.get(0);
    return "%s (%s to %s) of %s free memory between objects%s lies beside %s objects of %s, half of it beside objects older than %s; no trim gives back %s of that."
        .formatted(
            Words.share(first.share().value()),
            Words.share(first.share().low()),
            Words.share(first.share().high()),
            Words.bytes(bytes.value()),
            Double.isNaN(retainedBytes)
                ? ""
                : " (the allocator retains " + Words.bytes(retainedBytes) + ")",
            Words.number(first.objects().value()),
            first.site(),
            Words.roughly(Duration.ofSeconds((long) first.medianAgeSeconds())),
            Words.bytes(first.stuckBytes().value()));
  }

  /** A sum over samples. */
  private static final class Weighed {
    double value;
    double variance;
    double squares;
    long samples;

    void add(double weight, double amount) {
      if (amount > 0) {
        value += weight * amount;
        variance += weight * (weight - 1) * amount * amount;
        squares += weight * weight * amount * amount;
        samples++;
      }
    }

    void add(Weighed other) {
      value += other.value;
      variance += other.variance;
      squares += other.squares;
      samples += other.samples;
    }

    void scale(double scale) {
      value *= scale;
      variance *= scale * scale;
      squares *= scale * scale;
    }

    Estimate estimate(double scale) {
      return new Estimate(scale * value, scale * scale * variance, samples);
    }
  }

  /** That of a site, of all sites of one name, or of all. */
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

    void add(Sum other) {
      bytes.add(other.bytes);
      stuck.add(other.stuck);
      returnable.add(other.returnable);
      beside.add(other.beside);
      ages.addAll(other.ages);
    }

    void scale(double liveObjects) {
      double scale = known > 0 && liveObjects > known ? liveObjects / known : 1;
      List.of(bytes, stuck, returnable, beside).forEach(sum -> sum.scale(scale));
      ages.forEach(age -> age[1] *= scale);
    }

    boolean isEnough(Sum all) {
      Estimate share = shareIn(all);
      return bytes.samples >= FEWEST_SAMPLES
          && bytes.value * bytes.value >= FEWEST_EQUAL_SAMPLES * bytes.squares
          && share.low() >= LEAST_LOW * share.value();
    }

    Estimate shareIn(Sum all) {
      double share = bytes.value / all.bytes.value;
      double others = Math.max(0, all.bytes.variance - bytes.variance);
      double variance =
          (bytes.variance * (1 - share) * (1 - share) + others * share * share)
              / (all.bytes.value * all.bytes.value);
      return new Estimate(share, variance, bytes.samples).atMost(1);
    }

    PinningSite site(CallSite site, Sum all, double reduced) {
      return new PinningSite(
          site.name(),
          site.library(),
          shareIn(all),
          beside.estimate(1),
          bytes.estimate(reduced),
          stuck.estimate(reduced),
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
