package io.mallometer.internal.leak;

import io.mallometer.SitesByHand;
import io.mallometer.internal.interposer.Durations;
import io.mallometer.internal.interposer.Evidence;
import io.mallometer.internal.interposer.SampledObject;
import io.mallometer.internal.interposer.SiteUse;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.Observation;
import io.mallometer.model.StackFrame;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A process with many call sites, as the library would observe it: samples are put into slots with
 * the library's probability, epochs of 16 s tell which slots were touched, some epochs are void.
 * Seeded; its clock is its own.
 */
final class SimulatedProcess {

  static final double EPOCH = 16;

  private static final long NANOS = 1_000_000_000L;
  private static final long BASE = 5_000 * NANOS;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /** What the library places of a site in an epoch, and how many live ones it likes to have. */
  private static final double PLACED_IN_AN_EPOCH = 4;

  private static final double LIVE_IN_SLOTS = 32;

  /** A site that has a slot gets no more once so large a share of them is all that is left. */
  private static final double LEFT_FOR_NEW_SITES = 0.1;

  /** How old a site's first sample is before one of its samples is put into a slot. */
  private static final double BEFORE_SLOTS = 6 * EPOCH;

  private final Random random;
  private final double voidShare;
  private final int slots;
  private int slotsInUse;
  private final List<Site> sites = new ArrayList<>();
  private double now;
  private double epochEnd;
  private long epochs;
  private long voidEpochs;

  /**
   * A process without sites.
   *
   * @param slots how many objects can be observed at a time, those of all sites together
   */
  SimulatedProcess(long seed, double voidShare, int slots) {
    this.random = new Random(seed);
    this.voidShare = voidShare;
    this.slots = slots;
  }

  /** One stack of a kind. */
  final class Site {
    final SimulatedKind kind;
    final int number;
    final String name;
    private final List<Sample> live = new ArrayList<>();
    private final float[][] sketches = new float[3][Durations.BUCKETS];
    private final long[] counts = new long[3];
    private long placed;
    private long freed;
    private double nextBirth;
    private double firstSample = Double.NaN;
    private int samplesOfEpoch;
    private int samplesOfLastEpoch;
    private int inSlots;
    private double lightest = Double.POSITIVE_INFINITY;
    private double heaviest;

    Site(SimulatedKind kind, int number, String name) {
      this.kind = kind;
      this.number = number;
      this.name = name;
      this.nextBirth = kind.births().after(0, random);
    }

    /** Bytes of all its samples that live, as if each stood for what it does. */
    double suspectable(double oldest) {
      return live.stream()
          .filter(sample -> sample.birth < oldest && sample.death == SimulatedKind.NEVER)
          .mapToDouble(sample -> kind.bytes() / kind.probability())
          .sum();
    }

    /** How many times as much as another some object in a slot has stood for. */
    double ratioOfWeights() {
      return heaviest / lightest;
    }

    private void advance(double until) {
      while (nextBirth <= until) {
        give(nextBirth);
        nextBirth = kind.births().after(nextBirth, random);
      }
      freeUntil(until);
    }

    private void give(double birth) {
      freeUntil(birth);
      samplesOfEpoch++;
      firstSample = Double.isNaN(firstSample) ? birth : firstSample;
      double share = Math.min(1, PLACED_IN_AN_EPOCH / Math.max(1, samplesOfLastEpoch));
      double left = 1 - slotsInUse / (double) slots - (inSlots > 0 ? LEFT_FOR_NEW_SITES : 0);
      double room = Math.max(0, Math.min(1, 2 * left)) * LIVE_IN_SLOTS / Math.max(1, inSlots);
      double placement =
          birth - firstSample < BEFORE_SLOTS ? 0 : share * Math.pow(Math.min(1, room), 2);
      boolean slot = random.nextDouble() < placement;
      Sample sample = new Sample(birth, birth + kind.life().of(birth, random));
      sample.placement = slot ? placement : 0;
      sample.nextUse = kind.use().after(birth, birth, random);
      sample.lastAccess = birth;
      live.add(sample);
      if (slot) {
        placed++;
        inSlots++;
        slotsInUse++;
        lightest = Math.min(lightest, 1 / placement);
        heaviest = Math.max(heaviest, 1 / placement);
      }
    }

    private void freeUntil(double time) {
      Iterator<Sample> all = live.iterator();
      while (all.hasNext()) {
        Sample sample = all.next();
        if (sample.death <= time) {
          all.remove();
          if (sample.placement > 0) {
            inSlots--;
            slotsInUse--;
            freed++;
            note(0, sample.death - sample.birth, sample);
            note(1, Math.max(0, sample.death - sample.lastAccess), sample);
          }
        }
      }
    }

    private void endEpoch(double begin, double end, boolean isVoid) {
      samplesOfLastEpoch = samplesOfEpoch;
      samplesOfEpoch = 0;
      for (Sample sample : live) {
        boolean used = sample.birth > begin;
        while (sample.nextUse <= end) {
          used = true;
          sample.nextUse = kind.use().after(sample.nextUse, sample.birth, random);
        }
        if (used && !isVoid && sample.placement > 0) {
          if (end - sample.lastAccess > 1.5 * (end - begin) && sample.birth <= begin) {
            note(2, end - sample.lastAccess, sample);
          }
          sample.lastAccess = end;
        }
      }
    }

    private void note(int sketch, double seconds, Sample sample) {
      counts[sketch]++;
      sketches[sketch][Durations.bucket(seconds)] +=
          (float) (1 / (kind.probability() * sample.placement));
    }

    private SiteUse use() {
      return new SiteUse(placed, freed, durations(0), durations(1), durations(2));
    }

    private Durations durations(int sketch) {
      return new Durations(counts[sketch], sketches[sketch]);
    }

    private CallSite callSite() {
      double weight = 1 / kind.probability();
      double variance = weight * (weight - 1) * live.size();
      Estimate objects = new Estimate(weight * live.size(), variance, live.size());
      Estimate bytes =
          new Estimate(
              objects.value() * kind.bytes(), variance * kind.bytes() * kind.bytes(), live.size());
      int dot = name.lastIndexOf('.');
      return new CallSite(
          number,
          List.of(StackFrame.ofJava(name.substring(0, dot), name.substring(dot + 1), "", 0)),
          name,
          "libsimulated.so",
          live.size(),
          objects,
          bytes,
          objects,
          bytes,
          Double.NaN,
          Double.NaN,
          CallSite.Ages.UNKNOWN);
    }
  }

  private static final class Sample {
    final double birth;
    final double death;
    double placement;
    double nextUse;
    double lastAccess;

    Sample(double birth, double death) {
      this.birth = birth;
      this.death = death;
    }
  }

  /** Adds a site, or as many as its kind has stacks, under a name of its own. */
  List<Site> add(SimulatedKind kind, String name) {
    List<Site> added = new ArrayList<>();
    for (int stack = 0; stack < kind.stacks(); stack++) {
      Site site = new Site(kind, sites.size(), name);
      sites.add(site);
      added.add(site);
    }
    return added;
  }

  /** Lets an epoch pass. */
  void passEpoch() {
    double begin = now;
    double end = now + EPOCH;
    boolean isVoid = random.nextDouble() < voidShare;
    for (Site site : sites) {
      site.advance(end);
      site.endEpoch(begin, end, isVoid);
    }
    now = end;
    epochs++;
    voidEpochs += isVoid ? 1 : 0;
    epochEnd = isVoid ? epochEnd : end;
  }

  double seconds() {
    return now;
  }

  Instant time() {
    return START.plus(Duration.ofMillis(Math.round(now * 1e3)));
  }

  Evidence evidence() {
    List<SampledObject> objects = new ArrayList<>();
    Map<Integer, SiteUse> uses = new HashMap<>();
    for (Site site : sites) {
      for (Sample sample : site.live) {
        objects.add(
            new SampledObject(
                site.number,
                site.kind.bytes(),
                site.kind.probability(),
                sample.placement,
                nanos(sample.birth),
                sample.placement > 0 ? nanos(sample.lastAccess) : 0));
      }
      uses.put(site.number, site.use());
    }
    return new Evidence(nanos(now), observation(), objects, uses);
  }

  private Observation observation() {
    return new Observation(
        Observation.State.ON,
        "",
        "cold",
        nanos(0),
        nanos(epochEnd),
        EPOCH,
        epochs,
        voidEpochs,
        0,
        0,
        0,
        0,
        List.of(),
        0,
        0,
        0,
        "not in a simulation",
        "not in a simulation");
  }

  CallSites callSites() {
    return SitesByHand.reading(
        time(), sites.stream().filter(site -> !site.live.isEmpty()).map(Site::callSite).toList());
  }

  private static long nanos(double seconds) {
    return BASE + Math.round(seconds * NANOS);
  }
}
