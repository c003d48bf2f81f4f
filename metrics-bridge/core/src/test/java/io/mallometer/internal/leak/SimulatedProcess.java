package io.mallometer.internal.leak;

import io.mallometer.SitesByHand;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.leak.evidence.DurationSketch;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
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
 * Simulates a process as the library would observe it. The library observes accesses to a part of
 * the samples only, and tells at the end of each epoch of 16 s which of them were accessed. In void
 * epochs it observes nothing. A seed makes the simulation repeatable.
 */
final class SimulatedProcess {

  static final double EPOCH = 16;

  private static final long NANOS = 1_000_000_000L;
  private static final long BASE = 5_000 * NANOS;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /**
   * The library tries to put at least this many samples of each site into slots in each epoch. A
   * slot is the pages of one object, whose accesses the library observes (leak/placement.h).
   */
  private static final double PLACED_IN_AN_EPOCH = 4;

  private static final double LIVE_IN_SLOTS = 32;

  /** The share of the slots (pages of single objects) that is reserved for sites without a slot. */
  private static final double LEFT_FOR_NEW_SITES = 0.1;

  /**
   * A new site gets no slots (pages of single objects) for this many seconds after its first
   * sample.
   */
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
   * Creates a process without sites.
   *
   * @param slots how many objects can be observed at a time
   */
  SimulatedProcess(long seed, double voidShare, int slots) {
    this.random = new Random(seed);
    this.voidShare = voidShare;
    this.slots = slots;
  }

  final class Site {
    final SimulatedKind kind;
    final int number;
    final String name;
    private final SimulatedKind.Births births;
    private final List<Sample> live = new ArrayList<>();
    private final float[][] sketches = new float[3][DurationSketch.BUCKETS];
    private final long[] counts = new long[3];
    private long placed;
    private long freed;
    private double nextBirth;
    private double nextDeath = SimulatedKind.NEVER;
    private double firstSample = Double.NaN;
    private int samplesOfEpoch;
    private int samplesOfLastEpoch;
    private int kept;
    private int inSlots;
    private double lightest = Double.POSITIVE_INFINITY;
    private double heaviest;

    Site(SimulatedKind kind, int stack, int number, String name) {
      this.kind = kind;
      this.births = kind.births(stack);
      this.number = number;
      this.name = name;
      this.nextBirth = births.after(0, random);
    }

    /**
     * Returns the largest weight of an observed object divided by the smallest. An object that
     * stands for 1,000 objects has the weight 1,000.
     */
    double ratioOfWeights() {
      return heaviest / lightest;
    }

    private void advance(double until) {
      while (nextBirth <= until) {
        give(nextBirth);
        nextBirth = births.after(nextBirth, random);
      }
      freeUntil(until);
    }

    private void give(double birth) {
      freeUntil(birth);
      samplesOfEpoch++;
      firstSample = Double.isNaN(firstSample) ? birth : firstSample;
      double more = Math.min(PLACED_IN_AN_EPOCH * (1 + kept), LIVE_IN_SLOTS - inSlots);
      double wanted = Math.max(PLACED_IN_AN_EPOCH, more);
      double share = Math.min(1, wanted / Math.max(1, samplesOfLastEpoch));
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
      nextDeath = Math.min(nextDeath, sample.death);
      if (slot) {
        placed++;
        inSlots++;
        slotsInUse++;
        lightest = Math.min(lightest, 1 / placement);
        heaviest = Math.max(heaviest, 1 / placement);
      }
    }

    private void freeUntil(double time) {
      if (time < nextDeath) {
        return;
      }
      nextDeath = SimulatedKind.NEVER;
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
        } else {
          nextDeath = Math.min(nextDeath, sample.death);
        }
      }
    }

    private void endEpoch(double begin, double end, boolean isVoid) {
      samplesOfLastEpoch = samplesOfEpoch;
      samplesOfEpoch = 0;
      kept = live.size();
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
      sketches[sketch][DurationSketch.bucket(seconds)] +=
          (float) (1 / (kind.probability() * sample.placement));
    }

    private SiteUse use() {
      return new SiteUse(placed, freed, durations(0), durations(1), durations(2));
    }

    private DurationSketch durations(int sketch) {
      return new DurationSketch(counts[sketch], sketches[sketch]);
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

    private double told = Double.NaN;
    private SampledObject object;

    Sample(double birth, double death) {
      this.birth = birth;
      this.death = death;
    }

    /**
     * Returns the sample as the library reports it. The result is the same instance until the
     * object is used again.
     */
    SampledObject object(Site site) {
      if (lastAccess != told) {
        told = lastAccess;
        object =
            new SampledObject(
                site.number,
                site.kind.bytes(),
                site.kind.probability(),
                placement,
                nanos(birth),
                placement > 0 ? nanos(lastAccess) : 0);
      }
      return object;
    }
  }

  List<Site> add(SimulatedKind kind, String name) {
    List<Site> added = new ArrayList<>();
    for (int stack = 0; stack < kind.stacks(); stack++) {
      Site site = new Site(kind, stack, sites.size(), name);
      sites.add(site);
      added.add(site);
    }
    return added;
  }

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
        objects.add(sample.object(site));
      }
      uses.put(site.number, site.use());
    }
    return new Evidence(nanos(now), observation(), objects, uses);
  }

  private Observation observation() {
    return VerdictsByHand.observation(
        Observation.State.ON,
        new Observation.Period("cold", nanos(0), nanos(epochEnd), EPOCH, epochs, voidEpochs, 0));
  }

  CallSites callSites() {
    return SitesByHand.reading(time(), sites.stream().map(Site::callSite).toList());
  }

  private static long nanos(double seconds) {
    return BASE + Math.round(seconds * NANOS);
  }
}
