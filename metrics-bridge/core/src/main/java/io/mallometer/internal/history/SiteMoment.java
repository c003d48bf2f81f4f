package io.mallometer.internal.history;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The bytes and objects of the call sites at one moment, in the order of the sites' numbers. At
 * most {@value #MOST_SITES} sites are stored. Half of them are the sites with the most live bytes,
 * and the rest are the sites with the most allocated bytes.
 *
 * <p>The values are floats, because their rounding error is less than the uncertainty of the
 * estimates.
 */
final class SiteMoment {

  static final int MOST_SITES = 4_096;

  private static final Comparator<CallSite> BY_NUMBER =
      new Comparator<>() {
        @Override
        public int compare(CallSite one, CallSite other) {
          return Integer.compare(one.number(), other.number());
        }
      };

  private final Instant time;
  private final boolean complete;
  private final int[] numbers;
  private final float[] liveBytes;
  private final float[] liveObjects;
  private final float[] allocatedBytes;
  private final float[] allocatedObjects;
  private final int[] samples;

  private SiteMoment(Instant time, boolean complete, List<CallSite> kept) {
    this.time = time;
    this.complete = complete;
    this.numbers = new int[kept.size()];
    this.liveBytes = new float[kept.size()];
    this.liveObjects = new float[kept.size()];
    this.allocatedBytes = new float[kept.size()];
    this.allocatedObjects = new float[kept.size()];
    this.samples = new int[kept.size()];
    for (int i = 0; i < numbers.length; i++) {
      CallSite site = kept.get(i);
      numbers[i] = site.number();
      liveBytes[i] = (float) site.liveBytes().value();
      liveObjects[i] = (float) site.liveObjects().value();
      allocatedBytes[i] = (float) site.allocatedBytes().value();
      allocatedObjects[i] = (float) site.allocatedObjects().value();
      samples[i] = (int) Math.min(Integer.MAX_VALUE, site.samples());
    }
  }

  static SiteMoment of(CallSites read) {
    List<CallSite> kept = new ArrayList<>(largest(read, MOST_SITES));
    kept.sort(BY_NUMBER);
    return new SiteMoment(read.time(), kept.size() == read.sites().size(), kept);
  }

  Instant time() {
    return time;
  }

  /**
   * Returns the live bytes of a site. For a site that is not stored, returns 0 if no sites were
   * left out, else {@code NaN}.
   */
  double liveBytes(int number) {
    return figure(number, liveBytes);
  }

  double liveObjects(int number) {
    return figure(number, liveObjects);
  }

  /**
   * Returns the bytes that a site had allocated since counting began. For a site that is not
   * stored, returns 0 if no sites were left out, else {@code NaN}.
   */
  double allocatedBytes(int number) {
    return figure(number, allocatedBytes);
  }

  /**
   * Returns 0 for {@code NaN}, the value of a site that is not stored. Such a site had fewer bytes
   * than the stored sites.
   */
  static double orNone(double bytes) {
    return Double.isNaN(bytes) ? 0 : bytes;
  }

  double allocatedObjects(int number) {
    return figure(number, allocatedObjects);
  }

  int samples(int number) {
    int index = Arrays.binarySearch(numbers, number);
    return index >= 0 ? samples[index] : 0;
  }

  private double figure(int number, float[] figures) {
    int index = Arrays.binarySearch(numbers, number);
    if (index >= 0) {
      return figures[index];
    }
    return complete ? 0 : Double.NaN;
  }

  /**
   * Returns all sites if they are few enough, else the largest: half of them by live bytes, the
   * others by allocated bytes.
   */
  static Collection<CallSite> largest(CallSites read, int most) {
    if (read.sites().size() <= most) {
      return read.sites();
    }
    List<CallSite> kept = new ArrayList<>(most);
    List<CallSite> others = addLargest(read.sites(), SiteMoment::liveBytes, most / 2, kept);
    addLargest(others, SiteMoment::allocatedBytes, most - kept.size(), kept);
    return kept;
  }

  private static double liveBytes(CallSite site) {
    return known(site.liveBytes().value());
  }

  private static double allocatedBytes(CallSite site) {
    return known(site.allocatedBytes().value());
  }

  private static double known(double bytes) {
    return Double.isNaN(bytes) ? Double.NEGATIVE_INFINITY : bytes;
  }

  /**
   * Adds the {@code most} sites with the largest values of {@code figure} to {@code kept}, and
   * returns the others. Among sites with equal values, the first are added. The method sorts the
   * values and not the sites, because that is faster in interpreted code. The method runs too
   * seldom to be compiled.
   */
  private static List<CallSite> addLargest(
      List<CallSite> sites, ToDoubleFunction<CallSite> figure, int most, List<CallSite> kept) {
    double[] figures = new double[sites.size()];
    for (int i = 0; i < figures.length; i++) {
      figures[i] = figure.applyAsDouble(sites.get(i));
    }
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    double least = most == 0 ? Double.POSITIVE_INFINITY : sorted[Math.max(0, sorted.length - most)];
    int equal = most;
    for (double one : figures) {
      equal -= one > least ? 1 : 0;
    }
    List<CallSite> others = new ArrayList<>(Math.max(0, sites.size() - most));
    for (int i = 0; i < figures.length; i++) {
      if (figures[i] > least || figures[i] == least && equal-- > 0) {
        kept.add(sites.get(i));
      } else {
        others.add(sites.get(i));
      }
    }
    return others;
  }
}
