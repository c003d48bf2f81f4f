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
 * <p>Rare objects have few samples of unequal weight, so that this sum S may be far off: a sample
 * that stands for a thousand objects is there or not. But the sum is known ({@link FreeMemory}): B
 * bytes. A sum above it is reduced to it, with all its parts; what a lower one lacks lies beside
 * objects without samples, of any call site. With W, the larger of S and B, a site's share is T/W.
 * The variance of T/S is (Var T (1 - T/S)^2 + Var (S - T) (T/S)^2) / S^2; to that of T/W a quarter
 * of the square of the part that is missing is added.
 *
 * <p>A site is named first only if its share is at least one half, so that no other site can have
 * more even if all that is missing were its own. {@code benchmarks/pins/rules.py} compares rules:
 * of 371 sites that this one names 11 are wrong; by samples alone it was 86 of 324.
 */
final class PinnedBy {

  /** A site with fewer samples is not named. */
  static final int FEWEST_SAMPLES = 3;

  /** Nor is any if none has this share. */
  static final double LEAST_SHARE = 0.5;

  /** Nor one whose share may be less than this part of what it is estimated to be. */
  static final double LEAST_LOW = 0.25;

  private static final double NANOS = 1e9;

  private PinnedBy() {}

  /**
   * Concludes.
   *
   * @param sites all call sites, with names
   * @param free what is known by counts
   * @param nowNanos the clock of {@link Neighbours#bornNanos}
   */
  static PinnedMemory of(
      List<Neighbours> neighbours,
      List<CallSite> sites,
      FreeMemory free,
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
    double whole = Math.max(all.bytes.value, free.value());
    double reduced = all.bytes.value > free.value() ? free.value() / all.bytes.value : 1;
    List<Map.Entry<String, Sum>> largest =
        byName.entrySet().stream()
            .sorted(
                Comparator.comparingDouble(
                        (Map.Entry<String, Sum> entry) -> entry.getValue().bytes.value)
                    .reversed())
            .limit(PinnedMemory.MOST_SITES)
            .toList();
    boolean named =
        !largest.isEmpty()
            && largest.get(0).getValue().isEnough(all)
            && largest.get(0).getValue().bytes.value >= LEAST_SHARE * whole;
    List<PinningSite> shown =
        named
            ? largest.stream()
                .filter(entry -> entry.getValue().isEnough(all))
                .map(
                    entry -> entry.getValue().site(ofName.get(entry.getKey()), all, whole, reduced))
                .toList()
            : List.of();
    Estimate bytes = free.bytes(all.bytes.samples);
    Estimate returnable = free.returnable(neighbours);
    return new PinnedMemory(
        time,
        sentence(bytes, shown, all.bytes.value * reduced),
        bytes,
        returnable,
        rest(bytes, returnable),
        shown,
        free.effects(returnable),
        costSeconds);
  }

  private static Estimate rest(Estimate bytes, Estimate returnable) {
    return new Estimate(
            Math.max(0, bytes.value() - returnable.value()),
            bytes.variance() + returnable.variance(),
            returnable.samples())
        .atMost(bytes.high());
  }

  private static String sentence(Estimate bytes, List<PinningSite> sites, double seen) {
    if (sites.isEmpty()) {
      return "Not enough evidence: live samples lie beside %s of %s free memory between objects, and those of no call site beside half of it."
          .formatted(Words.bytes(seen), Words.bytes(bytes.value()));
    }
    PinningSite first = sites.get(0);
    return "%s (%s to %s) of %s free memory between objects lies beside %s objects of %s, half of it beside objects older than %s; no trim gives back %s of that."
        .formatted(
            Words.share(first.share().value()),
            Words.share(first.share().low()),
            Words.share(first.share().high()),
            Words.bytes(bytes.value()),
            Words.number(first.objects().value()),
            first.site(),
            Words.roughly(Duration.ofSeconds((long) first.medianAgeSeconds())),
            Words.bytes(first.stuckBytes().value()));
  }

  /** A sum over samples. */
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

    void add(Weighed other) {
      value += other.value;
      variance += other.variance;
      samples += other.samples;
    }

    void scale(double scale) {
      value *= scale;
      variance *= scale * scale;
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
      return bytes.samples >= FEWEST_SAMPLES && share.low() >= LEAST_LOW * share.value();
    }

    Estimate shareIn(Sum all) {
      double share = bytes.value / all.bytes.value;
      double others = Math.max(0, all.bytes.variance - bytes.variance);
      double variance =
          (bytes.variance * (1 - share) * (1 - share) + others * share * share)
              / (all.bytes.value * all.bytes.value);
      return new Estimate(share, variance, bytes.samples).atMost(1);
    }

    /** Of all that is free between objects. */
    Estimate shareIn(Sum all, double whole) {
      double part = all.bytes.value / whole;
      double missing = 1 - part;
      return new Estimate(
              bytes.value / whole,
              shareIn(all).variance() * part * part + missing * missing / 4,
              bytes.samples)
          .atMost(1);
    }

    PinningSite site(CallSite site, Sum all, double whole, double reduced) {
      return new PinningSite(
          site.name(),
          site.library(),
          shareIn(all, whole),
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
