package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.SitesByHand;
import io.mallometer.internal.leak.evidence.Cleaning;
import io.mallometer.internal.leak.evidence.Cleaning.Cleaned;
import io.mallometer.internal.leak.evidence.Cleaning.Outlived;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.model.CallSite;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Observation;
import io.mallometer.model.SiteVerdict.Garbage;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class WaitingGarbageTest {

  private static final int SITE = 7;
  private static final int OTHER = 8;
  private static final double MIB = 1 << 20;
  private static final long OBJECT = 1 << 20;

  /** The seconds that cleaners take to free the objects that a collection found. */
  private static final int CLEANING = 2;

  private final WaitingGarbage garbage = new WaitingGarbage();
  private final Program program = new Program();

  /** A program that allocates a sampled object of a MiB each second. */
  private static final class Program {

    final List<SampledObject> live = new ArrayList<>();
    final List<Long> began = new ArrayList<>(List.of(0L, 0L, 0L));
    final Random random = new Random(58);
    Outlived latest = Outlived.NONE;
    Outlived before = Outlived.NONE;

    /** Whether a collection of the old generation is counted only when its marking has ended. */
    boolean marksFirst;

    boolean generationalZgc;

    /**
     * The number of samples that cleaners freed. It begins at 1, so that a cleaner is known from
     * the start.
     */
    long cleaned = 1;

    long afterFirstYoung;
    long old;
    long all;
    double seconds = 1;

    void allocate(int count) {
      for (int i = 0; i < count; i++) {
        seconds++;
        live.add(new SampledObject(SITE, OBJECT, 1, 0, (long) (seconds * 1e9), 0, old, all));
      }
    }

    /**
     * Collects the old generation. Cleaners then free each live object with the given probability.
     */
    void collect(double probability) {
      old++;
      all++;
      before = latest;
      latest = Outlived.NONE;
      began.add(0, (long) (seconds * 1e9));
      Set<SampledObject> gone = new HashSet<>();
      for (SampledObject object : live) {
        if (random.nextDouble() < probability) {
          gone.add(object);
          boolean first = old - object.oldCollections() == 1;
          latest =
              latest.plus(new Outlived(1, 0, first ? 0 : 1, first ? MIB : 0, first ? 0 : MIB, 0));
          cleaned++;
        }
      }
      live.removeAll(gone);
      seconds += CLEANING;
    }

    void free(int count) {
      for (int i = 0; i < count; i++) {
        SampledObject object = live.remove(0);
        long outlived = old - object.oldCollections();
        if (outlived > 0) {
          latest =
              latest.plus(new Outlived(0, 1, outlived > 1 ? 1 : 0, 0, 0, outlived == 1 ? MIB : 0));
        }
      }
    }

    Cleaning cleaning() {
      Map<Integer, Cleaned> sites =
          cleaned == 0
              ? Map.of()
              : Map.of(SITE, new Cleaned(cleaned, afterFirstYoung, List.of(latest, before)));
      return new Cleaning(old, all, began.subList(0, 3), generationalZgc, marksFirst, "", sites);
    }
  }

  private void read() {
    garbage.add(program.cleaning(), new SamplesBySite(program.live), program.seconds);
  }

  private Garbage answer() {
    return garbage.of(List.of(SITE), false);
  }

  private boolean waits() {
    return garbage.waits(List.of(SITE), true, false);
  }

  private void collectTwice(double probability) {
    program.collect(0);
    read();
    program.allocate(100);
    program.collect(probability);
    program.allocate(100);
    program.collect(probability);
    read();
  }

  @Test
  void predictsWhatTheTwoLastOldCollectionsFreedOfNewObjects() {
    collectTwice(1);
    program.allocate(50);
    read();
    Garbage known = answer();
    assertThat(known.answer()).isEqualTo(GarbageAnswer.OLD);
    assertThat(known.bytes().value()).isCloseTo(50 * MIB, within(MIB));
    assertThat(known.bytes().low()).isLessThan(known.bytes().value());
    assertThat(known.bytesPerSecond()).isCloseTo(MIB, within(0.05 * MIB));
    assertThat(known.lastOldSeconds()).isEqualTo(50 + CLEANING);
    assertThat(waits()).isTrue();
    assertThat(garbage.words(known))
        .startsWith("an old garbage collection frees about 50 MiB of it (")
        .endsWith("); the last was 52 s ago");
  }

  @Test
  void countsNoGarbageThatTheProgramClosed() {
    collectTwice(1);
    program.allocate(60);
    program.free(40);
    read();
    assertThat(answer().bytes().value()).isCloseTo(20 * MIB, within(MIB));
  }

  @Test
  void predictsOlderObjectsByTheTimeSinceTheLastCollection() {
    collectWhileOwnersLiveForOneCycle();
    program.allocate(50);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.OLD);
    assertThat(answer().bytes().value()).isCloseTo(50 * MIB, within(5 * MIB));
    assertThat(waits()).isFalse();
  }

  @Test
  void noMoreOldObjectsAreGarbageThanTheLastCollectionLeft() {
    collectWhileOwnersLiveForOneCycle();
    program.free(90);
    program.seconds += 1_000;
    read();
    assertThat(answer().bytes().value()).isCloseTo(10 * MIB, within(MIB));
  }

  /**
   * The Java objects that own the native objects live for one cycle. So each collection frees the
   * native objects that were allocated before the previous collection.
   */
  private void collectWhileOwnersLiveForOneCycle() {
    program.collect(0);
    read();
    for (int i = 0; i < 3; i++) {
      program.allocate(100);
      List<SampledObject> young =
          program.live.stream().filter(one -> one.oldCollections() == program.old).toList();
      program.live.removeAll(young);
      program.collect(1);
      program.live.addAll(young);
    }
  }

  @Test
  void cannotTellBeforeTwoOldCollections() {
    program.collect(0);
    program.allocate(98);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    assertThat(garbage.words(answer())).startsWith("no old collection was seen yet");
    program.collect(1);
    program.allocate(50);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    assertThat(garbage.words(answer())).startsWith("too few old collections freed some of it");
    assertThat(waits()).isFalse();
  }

  /**
   * The library recognizes a cleaner thread some seconds after the thread's first free. Frees
   * before the recognition do not count as frees by a cleaner.
   */
  @Test
  void cannotTellBeforeTwoOldCollectionsSinceTheCleanerIsKnown() {
    program.cleaned = 0;
    program.collect(0);
    read();
    program.allocate(100);
    program.collect(1);
    // The cleaner freed these objects before it was recognized.
    program.latest = program.latest.plus(new Outlived(0, 20, 0, 0, 0, 20 * MIB));
    read();
    program.allocate(100);
    program.collect(1);
    program.allocate(50);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    program.collect(1);
    program.allocate(50);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.OLD);
  }

  @Test
  void aCollectionCountsIfItsCleanerWasKnownBefore() {
    program.cleaned = 0;
    program.collect(0);
    read();
    program.allocate(100);
    program.collect(1);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    program.allocate(100);
    program.collect(1);
    program.allocate(50);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.OLD);
  }

  private void collectWhileThirtyAreAllocated() {
    program.collect(0);
    read();
    for (int i = 0; i < 3; i++) {
      program.allocate(100);
      List<SampledObject> marked = new ArrayList<>();
      for (int j = 0; j < 30; j++) {
        long born = (long) (program.seconds * 1e9) + j;
        marked.add(new SampledObject(SITE, OBJECT, 1, 0, born, 0, program.old, 0));
      }
      program.collect(1);
      program.live.addAll(marked);
      Outlived freed = program.latest;
      double bytes = program.marksFirst ? freed.bytes() : freed.firstBytes();
      program.latest =
          new Outlived(
              freed.atOnce(),
              0,
              program.marksFirst ? 0 : freed.again(),
              bytes,
              freed.bytes() - bytes,
              0);
    }
  }

  /** A concurrent collection does not free the objects that are allocated while it marks. */
  @Test
  void whatIsAllocatedWhileACollectionMarksIsGarbageForTheNextOne() {
    program.marksFirst = true;
    collectWhileThirtyAreAllocated();
    program.allocate(60);
    read();
    assertThat(waits()).isTrue();
    assertThat(answer().bytes().value()).isCloseTo(90 * MIB, within(MIB));

    List<SampledObject> held = new ArrayList<>();
    for (SampledObject one : program.live) {
      long born = one.bornNanos() - (one.oldCollections() == program.old ? 0 : 5_000_000_000L);
      held.add(new SampledObject(SITE, OBJECT, 1, 0, born, 0, one.oldCollections(), 0));
    }
    garbage.add(program.cleaning(), new SamplesBySite(held), program.seconds);
    assertThat(waits()).isFalse();
  }

  @Test
  void aCollectionThatIsCountedBeforeItMarksLeavesOnlyWhatIsHeld() {
    collectWhileThirtyAreAllocated();
    program.allocate(60);
    read();
    assertThat(waits()).isFalse();
  }

  /**
   * Just after a collection, the cleaners have not yet freed the garbage that it found, so the
   * garbage looks as if it were in use.
   */
  @Test
  void aReadingJustAfterACollectionChangesNothing() {
    collectTwice(1);
    program.allocate(50);
    read();
    Garbage before = answer();
    program.collect(0);
    program.seconds -= 1;
    read();
    assertThat(answer()).isEqualTo(before);
    assertThat(waits()).isTrue();
    // A reading just after a collection is skipped, but never two in a row. Otherwise frequent
    // collections would prevent any result.
    read();
    assertThat(answer().answer()).isNotEqualTo(GarbageAnswer.OLD);
  }

  /**
   * The library counts collections itself, so a {@code WaitingGarbage} that is created later also
   * knows earlier collections.
   */
  @Test
  void theLastCollectionIsKnownToWhoeverLooksLater() {
    collectTwice(1);
    program.allocate(50);
    WaitingGarbage later = new WaitingGarbage();
    later.add(program.cleaning(), new SamplesBySite(program.live), program.seconds);
    assertThat(later.of(List.of(SITE), false).lastOldSeconds()).isEqualTo(50 + CLEANING);
    assertThat(later.of(List.of(SITE), false).bytes().value()).isCloseTo(50 * MIB, within(MIB));
  }

  @Test
  void aLeakAmongGarbageNeverWaits() {
    for (double leaks : new double[] {0.1, 0.2, 0.5, 0.9}) {
      for (int seed = 0; seed < 40; seed++) {
        WaitingGarbage watch = new WaitingGarbage();
        Program leaking = new Program();
        leaking.random.setSeed(seed);
        leaking.collect(0);
        watch.add(leaking.cleaning(), new SamplesBySite(leaking.live), leaking.seconds);
        Set<SampledObject> held = new LinkedHashSet<>();
        for (int cycle = 0; cycle < 6; cycle++) {
          for (int part = 0; part < 4; part++) {
            leaking.allocate(60);
            watch.add(leaking.cleaning(), new SamplesBySite(leaking.live), leaking.seconds);
            assertThat(watch.waits(List.of(SITE), true, true)).isFalse();
          }
          for (SampledObject object : leaking.live) {
            if (object.oldCollections() == leaking.old && leaking.random.nextDouble() < leaks) {
              held.add(object);
            }
          }
          leaking.live.removeAll(held);
          leaking.collect(1);
          leaking.live.addAll(held);
          watch.add(leaking.cleaning(), new SamplesBySite(leaking.live), leaking.seconds);
          assertThat(watch.waits(List.of(SITE), true, true)).isFalse();
        }
      }
    }
  }

  @Test
  void fewSamplesProveNothing() {
    program.collect(0);
    read();
    for (int i = 0; i < 2; i++) {
      program.allocate(30);
      program.collect(1);
    }
    program.allocate(50);
    read();
    assertThat(waits()).isFalse();
  }

  @Test
  void theRestIsHeldJustAfterACollection() {
    collectTwice(1);
    program.allocate(5);
    read();
    assertThat(waits()).isFalse();
    assertThat(garbage.waits(List.of(SITE), true, true)).isTrue();
  }

  @Test
  void moreThanTwiceWhatACollectionMetIsNotExplained() {
    collectTwice(1);
    program.allocate(190);
    read();
    assertThat(waits()).isTrue();
    program.allocate(20);
    read();
    assertThat(waits()).isFalse();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.OLD);
  }

  @Test
  void objectsThatOtherThreadsFreeAreNoGarbage() {
    program.collect(0);
    read();
    for (int i = 0; i < 2; i++) {
      program.allocate(100);
      List<SampledObject> closed = new ArrayList<>(program.live.subList(0, 20));
      program.live.removeAll(closed);
      program.collect(1);
      program.live.addAll(0, closed);
      program.free(20);
    }
    program.allocate(50);
    read();
    assertThat(waits()).isFalse();
    assertThat(answer().bytes().value()).isCloseTo(40 * MIB, within(2 * MIB));
  }

  @Test
  void tellsNoAmountOfASoftCacheThatOneCollectionEmptied() {
    program.collect(0);
    read();
    program.allocate(100);
    program.collect(0);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    program.allocate(100);
    program.collect(0);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.OUTLIVED);
    assertThat(garbage.words(answer())).startsWith("some of it outlived two old collections");
    program.collect(1);
    program.allocate(50);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    assertThat(waits()).isFalse();
  }

  @Test
  void aStackThatHoldsSpoilsTheVerdictOnAllOfItsName() {
    program.collect(0);
    read();
    for (int i = 0; i < 2; i++) {
      program.allocate(900);
      program.collect(1);
    }
    List<SampledObject> objects = new ArrayList<>(program.live);
    program.allocate(900);
    for (int i = 0; i < 5; i++) {
      objects.add(new SampledObject(OTHER, OBJECT, 1, 0, 1, 0, 1, 1));
    }
    objects.addAll(program.live);
    garbage.add(program.cleaning(), new SamplesBySite(objects), program.seconds);
    assertThat(garbage.waits(List.of(SITE), true, false)).isTrue();
    assertThat(garbage.waits(List.of(SITE, OTHER), true, false)).isFalse();
  }

  @Test
  void neverJudgesASiteThatNoCleanerFrees() {
    program.cleaned = 0;
    collectTwice(0);
    program.allocate(50);
    read();
    assertThat(answer()).isEqualTo(Garbage.NONE);
    assertThat(waits()).isFalse();
    assertThat(garbage.words(answer())).isEmpty();
  }

  @Test
  void aYoungCollectionFreesWhatDiesYoung() {
    read();
    program.all = 100;
    program.cleaned = 10_000;
    program.afterFirstYoung = 10_000;
    program.allocate(150);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.YOUNG);
    assertThat(waits()).isTrue();
    assertThat(garbage.waits(List.of(SITE), false, true)).isFalse();

    program.allocate(100);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.YOUNG);
    assertThat(waits()).isFalse();
  }

  @Test
  void aFewLiveObjectsContradictThatAYoungCollectionFreesThemOnlyIfOneOutlivedTwo() {
    program.cleaned = 100;
    program.afterFirstYoung = 100;
    program.allocate(20);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.YOUNG);

    program.all += 2;
    program.live.subList(1, 20).clear();
    program.allocate(20);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
  }

  /**
   * The two stacks each have too few samples by themselves, and the second one has no live memory.
   */
  @Test
  void aReportHasTheAnswerForAllStacksOfAName() {
    LeakDetector detector = new LeakDetector(MallometerOptions.defaults());
    program.cleaned = 20;
    program.afterFirstYoung = 20;
    program.allocate(10);
    Cleaning one = program.cleaning();
    Cleaned freed = one.sites().get(SITE);
    Cleaning both =
        new Cleaning(
            one.oldCollections(),
            one.collections(),
            one.oldBeganNanos(),
            false,
            false,
            "",
            Map.of(SITE, freed, OTHER, freed));
    report =
        evaluate(
            detector,
            both,
            SitesByHand.site(SITE, "com.shop.Pack.zip", "z", 9e7),
            SitesByHand.site(OTHER, "com.shop.Pack.zip", "y", 0));

    assertThat(report.sites()).hasSize(1);
    assertThat(report.sites().get(0).grounds().garbage().answer())
        .isEqualTo(GarbageAnswer.NOT_TOLD);
    assertThat(report.garbage()).containsOnlyKeys("com.shop.Pack.zip");
    assertThat(report.garbage().get("com.shop.Pack.zip").answer()).isEqualTo(GarbageAnswer.YOUNG);
  }

  @Test
  void aCacheOfSecondsIsNoGarbageThatAYoungCollectionFrees() {
    program.cleaned = 100;
    program.afterFirstYoung = 80;
    program.allocate(100);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    assertThat(waits()).isFalse();
  }

  @Test
  void aLeakBesideObjectsThatDieYoungIsNoGarbage() {
    program.cleaned = 100;
    program.afterFirstYoung = 100;
    program.allocate(20);
    program.all += 2;
    program.allocate(80);
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    assertThat(waits()).isFalse();
  }

  /**
   * The site's stack shows that a cleaner of the JDK frees the site's objects. The objects may be
   * garbage although the cleaner has freed none yet.
   */
  @Test
  void whatACleanerOfTheJdkFreesMayBeGarbageUntilACollectionMeetsIt() {
    program.cleaned = 0;
    program.all = 3;
    program.allocate(20);
    read();
    Garbage known = garbage.of(List.of(SITE), true);
    assertThat(known.answer()).isEqualTo(GarbageAnswer.NOT_YET);
    assertThat(garbage.words(known))
        .isEqualTo("a garbage collection may free it, and none came since it was allocated");
    assertThat(answer()).isEqualTo(Garbage.NONE);
    assertThat(waits()).isFalse();

    program.all++;
    program.allocate(20);
    read();
    assertThat(garbage.of(List.of(SITE), true)).isEqualTo(Garbage.NONE);
    program.cleaned = 1;
    read();
    assertThat(garbage.of(List.of(SITE), true).answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
  }

  @Test
  void anInflaterADeflaterAndADirectBufferHaveACleaner() {
    StackFrame zip = StackFrame.ofLibrary("libzip.so", "inflateInit2_", 31);
    StackFrame shop = StackFrame.ofJava("com.shop.Pack", "zip", "Pack.java", 3);
    StackFrame inflater = StackFrame.ofJava("java.util.zip.Inflater", "init", "Inflater.java", 0);
    StackFrame unsafe =
        StackFrame.ofJava("jdk.internal.misc.Unsafe", "allocateMemory", "Unsafe.java", 632);
    StackFrame buffer =
        StackFrame.ofJava("java.nio.DirectByteBuffer", "<init>", "DirectByteBuffer.java", 125);

    assertThat(StackFrame.isForCleaner(List.of(zip, inflater, shop))).isTrue();
    assertThat(StackFrame.isForCleaner(List.of(unsafe, buffer, shop))).isTrue();
    assertThat(StackFrame.isForCleaner(List.of(zip, shop, inflater))).isFalse();
    assertThat(StackFrame.isForCleaner(List.of(unsafe, shop))).isFalse();
    assertThat(StackFrame.isForCleaner(List.of())).isFalse();
  }

  @Test
  void statesNoAmountForGenerationalZgc() {
    collectTwice(1);
    program.allocate(50);
    program.generationalZgc = true;
    read();
    assertThat(answer().answer()).isEqualTo(GarbageAnswer.NOT_TOLD);
    assertThat(garbage.words(answer())).contains("generational ZGC");
    assertThat(waits()).isFalse();
  }

  private LeakReport report = LeakReport.none(Instant.EPOCH, "");

  private Verdict evaluate(LeakDetector detector) {
    CallSite site = SitesByHand.site(SITE, "com.shop.Pack.zip", "z", 9e7);
    report = evaluate(detector, program.cleaning(), site);
    return report.sites().get(0).verdict();
  }

  private LeakReport evaluate(LeakDetector detector, Cleaning cleaning, CallSite... sites) {
    return detector.evaluate(
        new Evidence(
            (long) (program.seconds * 1e9),
            Observation.off("not wanted"),
            program.live,
            Map.of(),
            Evidence.Counted.FROM_START,
            cleaning),
        SitesByHand.reading(sites),
        Instant.EPOCH.plusSeconds((long) program.seconds),
        LatestAccesses.unavailable("not watched"),
        name -> false);
  }

  @Test
  void aSiteWaitsForACollectionOnceThreeEvaluationsAgree() {
    LeakDetector detector = new LeakDetector(MallometerOptions.defaults());
    program.collect(0);
    evaluate(detector);
    for (int i = 0; i < 2; i++) {
      program.allocate(100);
      program.collect(1);
      assertThat(evaluate(detector)).isNotEqualTo(Verdict.WAITS_FOR_GC);
    }
    program.allocate(45);
    for (int i = 1; i <= LeakThresholds.EVALUATIONS_TO_CHANGE; i++) {
      program.allocate(15);
      assertThat(evaluate(detector) == Verdict.WAITS_FOR_GC)
          .isEqualTo(i == LeakThresholds.EVALUATIONS_TO_CHANGE);
      assertThat(report.sites().get(0).sentence()).contains("an old garbage collection frees ");
    }
    assertThat(report.sites().get(0).sentence())
        .contains("holds 86 MiB; an old garbage collection frees about 90 MiB of it (")
        .endsWith("); the last was 92 s ago");
    assertThat(report.leaks()).isEmpty();
  }

  @Test
  void saysWhyNothingIsKnown() {
    Cleaning none = Cleaning.none("the JVM has no counters");
    garbage.add(none, new SamplesBySite(List.of()), 0);
    assertThat(garbage.reason()).isEqualTo("the JVM has no counters");
    assertThat(answer()).isEqualTo(Garbage.NONE);
    LeakDetector detector = new LeakDetector(MallometerOptions.defaults());
    assertThat(evaluate(detector, none).garbageReason()).isEqualTo("the JVM has no counters");
  }
}
