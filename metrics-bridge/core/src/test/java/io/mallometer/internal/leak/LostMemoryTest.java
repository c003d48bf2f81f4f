package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SilentLibrary;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.MemorySearch.State;
import io.mallometer.internal.leak.evidence.SearchedObject;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.model.LeakReport;
import io.mallometer.model.Observation;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Status;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests when memory is searched for addresses of native objects, and when an object counts as lost
 * because no address of it exists.
 */
@Tag("any-jdk")
class LostMemoryTest {

  private static final int SITE = 388;
  private static final int THREADS = 20;
  private static final double GIB = 1 << 30;

  private final Library library = new Library();
  private final LostMemory lost = new LostMemory(1);
  private final SiteVerdict unused =
      VerdictsByHand.verdict(Verdict.UNUSED, "com.shop.Report.render", SITE, 1e6);
  private List<SiteVerdict> sites = List.of(unused);
  private GarbageCollections collections = new GarbageCollections(0, 0, 0);
  private double seconds;

  private static final class Library extends SilentLibrary {
    final List<List<Integer>> searches = new ArrayList<>();
    final List<SearchedObject> objects = new ArrayList<>();
    String refusal = "";
    State state = State.DONE;
    long searched = (long) GIB;
    long swapped;
    int unreadThreads = THREADS;
    double cpuSeconds = 0.3;

    Library() {
      super(Status.counting());
    }

    @Override
    public String searchMemory(List<Integer> sites, long mostBytes) {
      searches.add(sites);
      return refusal;
    }

    @Override
    public MemorySearch memorySearch() {
      return new MemorySearch(
          state,
          state == State.FAILED ? "process_vm_readv is refused" : "",
          searches.size(),
          new MemorySearch.Effort(0, 0, cpuSeconds),
          new MemorySearch.Coverage(searched, (long) GIB, swapped),
          unreadThreads,
          objects);
    }

    void has(int count, long references) {
      has(count, references, 0);
    }

    void has(int count, long references, double bornSeconds) {
      long born = (long) (bornSeconds * 1e9);
      for (int i = 0; i < count; i++) {
        objects.add(new SearchedObject(objects.size(), SITE, 4_096, 0.1, born, references, false));
      }
    }
  }

  @Test
  void objectsWithoutAddressInTwoSearchesAreLost() {
    library.has(47, 0);
    library.has(3, 1);

    assertThat(lost.resultText()).isEqualTo("not proved: no call site is unused");
    pass(15);
    assertThat(lost.resultText()).isEqualTo("not proved: a search is under way");
    pass(44);
    assertThat(lost.lostOf(SITE)).isNull();
    assertThat(lost.resultText())
        .isEqualTo("not proved: searched 1.0 GiB; a second search must confirm it");
    pass(46);

    assertThat(lost.lostOf(SITE)).isEqualTo(lost(50, 47));
    assertThat(lost.resultText()).isEqualTo("searched 1.0 GiB twice: 1 call site loses memory");
    assertThat(library.searches).hasSize(2);
  }

  @Test
  void eachStackOfALostVerdictIsLost() {
    lost.setStacks(Map.of(SITE, IntStream.rangeClosed(SITE, SITE + 20).boxed().toList()));
    LeakReport report =
        VerdictsByHand.report(
            VerdictsByHand.lost(VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", SITE, 21, 1e6)),
            VerdictsByHand.verdict(Verdict.LEAK, "a.B.d", 1, 1e6));

    assertThat(lost.isLost(report, SITE)).isTrue();
    assertThat(lost.isLost(report, SITE + 20)).isTrue();
    assertThat(lost.isLost(report, SITE + 21)).isFalse();
    assertThat(lost.isLost(report, 1)).isFalse();
  }

  @Test
  void nothingIsSearchedWhileNothingIsUnused() {
    sites = List.of(VerdictsByHand.verdict(Verdict.GROWING, "com.shop.Store.open", SITE, 1e6));
    pass(3_600);
    assertThat(library.searches).isEmpty();
  }

  // ---- Garbage collections

  /** Garbage contains the addresses of lost objects until it is collected. */
  @Test
  void aCollectionThatUnusedMemoryWaitsForIsFollowedByASearch() {
    library.has(50, 1, 100);
    seconds = 200;
    pass(30 * 60);
    assertThat(library.searches).hasSize(1);
    assertThat(lost.resultText())
        .isEqualTo(
            "not proved: searched 1.0 GiB;"
                + " no garbage was collected since unused objects were allocated");

    library.objects.clear();
    library.has(50, 0, 100);
    collect();
    pass(120);
    assertThat(library.searches).hasSize(3);
    assertThat(lost.lostOf(SITE)).isEqualTo(lost(50, 50));
  }

  /**
   * The 60 objects were allocated after the collection, and new garbage may contain their
   * addresses. Only the 20 objects from before the collection are judged.
   */
  @Test
  void objectsThatOutlivedACollectionAreJudgedWithoutTheYoungerOnes() {
    library.has(20, 0, 100);
    library.has(60, 1, 400);
    searchAfterACollectionAtSecond300();
    assertThat(lost.lostOf(SITE)).isNotNull();
    assertThat(lost.lostOf(SITE).searched()).isEqualTo(20);
    assertThat(lost.lostOf(SITE).lost()).isEqualTo(20);
    assertThat(lost.lostOf(SITE).objects()).isEqualTo(EstimatedShare.of(20, 80, 80));
  }

  @Test
  void heldObjectsThatOutlivedACollectionAreNotLost() {
    library.has(11, 1, 100);
    library.has(10, 0, 100);
    library.has(60, 1, 400);
    searchAfterACollectionAtSecond300();
    assertThat(lost.lostOf(SITE)).isNull();
  }

  private void searchAfterACollectionAtSecond300() {
    seconds = 300;
    sites = List.of();
    pass(15);
    collect();
    seconds = 500;
    sites = List.of(unused);
    pass(120);
  }

  @Test
  void collectionsAreFollowedBySearchesAsUnusedBytesGrow() {
    library.has(50, 1);
    for (int minute = 0; minute < 50; minute++) {
      sites = List.of(VerdictsByHand.verdict(Verdict.UNUSED, "a.B.c", SITE, (3 + minute) * 1e6));
      collect();
      pass(60);
    }
    assertThat(library.searches).hasSizeBetween(10, 15);
    int before = library.searches.size();
    for (int minute = 0; minute < 50; minute++) {
      collect();
      pass(60);
    }
    assertThat(library.searches).hasSize(before);
  }

  /**
   * Garbage in the old generation contains addresses of lost objects until a collection frees it.
   */
  @Test
  void aCollectionThatFreesOldMemoryIsFollowedByASearch() {
    library.has(50, 1);
    collections = new GarbageCollections(0, 0, 1_000);
    pass(600);
    collections = new GarbageCollections(1, 0, 2_000);
    pass(600);
    int before = library.searches.size();
    collections = new GarbageCollections(2, 0, 1_500);
    library.objects.clear();
    library.has(50, 0);
    pass(120);
    assertThat(library.searches).hasSize(before + 2);
    assertThat(lost.lostOf(SITE)).isNotNull();
  }

  /** Searches may use a thousandth of the time of one processor, plus 6 s at the beginning. */
  @Test
  void searchesStayWithinTheirShareOfProcessorTime() {
    library.cpuSeconds = 0.5;
    collectFor(4 * 3_600);
    assertThat(library.searches.size() * library.cpuSeconds).isBetween(14.0, 6 + 4 * 3.6 + 1);
  }

  /** The allowed CPU time may be exceeded by one search each hour. */
  @Test
  void aLargeProcessIsSearchedOnceAnHour() {
    library.cpuSeconds = 7;
    collectFor(4 * 3_600 - 30);
    assertThat(library.searches).hasSize(4);
    assertThat(lost.resultText()).contains("waits for its share of processor time");
  }

  /**
   * Adds 50 objects, and lets time pass. Every 30 s, a collection frees memory of the old
   * generation.
   */
  private void collectFor(int seconds) {
    library.has(50, 1);
    collections = new GarbageCollections(0, 0, 1L << 40);
    for (int i = 0; i < seconds / 30; i++) {
      collections = new GarbageCollections(i + 1, 0, collections.oldBytes() - 1);
      pass(30);
    }
  }

  @Test
  void nothingIsLostOnlyAfterACollectionOfTheWholeHeap() {
    library.has(50, 1, 100);
    seconds = 200;
    pass(60);
    collect();
    pass(120);
    assertThat(lost.resultText())
        .isEqualTo(
            "not proved: searched 1.0 GiB; garbage may have the addresses that were found, until"
                + " the whole heap is collected");

    collections = new GarbageCollections(collections.all() + 1, 1, -1);
    pass(120);
    assertThat(lost.resultText())
        .isEqualTo("searched 1.0 GiB after a collection of the whole heap: nothing is lost");
  }

  @Test
  void ofTooFewObjectsNothingIsProved() {
    library.has(4, 1, 100);
    seconds = 200;
    pass(60);
    collections = new GarbageCollections(1, 1, -1);
    pass(120);
    assertThat(lost.resultText()).contains("not proved").contains("too few objects");
  }

  private void collect() {
    collections = new GarbageCollections(collections.all() + 1, 0, collections.oldBytes());
  }

  // ---- Searches

  @Test
  void memoryIsSearchedOnceAnHourWhileNothingChanges() {
    library.has(50, 1);
    pass(4 * 3_600 - 60);
    assertThat(library.searches).hasSize(4);
  }

  /** A second search is needed only to confirm that objects are lost. */
  @Test
  void aSearchThatFindsAllAddressesNeedsNoSecond() {
    library.has(50, 1);
    pass(600);
    assertThat(library.searches).hasSize(1);
  }

  @Test
  void ofOneThatFailsAnHourIsWaitedToo() {
    library.state = State.FAILED;
    library.has(50, 0);
    pass(4 * 3_600 - 60);
    assertThat(library.searches).hasSize(4);
    assertThat(lost.lostOf(SITE)).isNull();
    assertThat(lost.resultText()).isEqualTo("not proved: process_vm_readv is refused");
  }

  @Test
  void oneThatIsRefusedIsTriedAgainAfterAnHour() {
    library.refusal = "one runs";
    pass(2 * 3_600 - 60);
    assertThat(library.searches).hasSize(2);
  }

  @Test
  void whileOneRunsNothingElseHappens() {
    library.state = State.RUNNING;
    pass(7_200);
    assertThat(library.searches).hasSize(1);
  }

  @Test
  void whatAnyOfTheTwoFindsAnAddressOfIsNotLost() {
    library.has(50, 0);
    pass(30);
    library.objects.clear();
    library.has(50, 1);
    pass(3_000);
    assertThat(lost.lostOf(SITE)).isNull();
  }

  @Test
  void fewerThanHalfAreNotEnough() {
    library.has(24, 0);
    library.has(26, 2);
    pass(120);
    assertThat(lost.lostOf(SITE)).isNull();
  }

  @Test
  void fourSamplesAreNotEnough() {
    library.has(4, 0);
    library.unreadThreads = 0;
    pass(120);
    assertThat(lost.lostOf(SITE)).isNull();
  }

  /**
   * The 8 samples represent 80 objects. The registers of 20 threads cannot be read, and may contain
   * the addresses of 80 objects. Therefore the search cannot prove that an object is lost.
   */
  @Test
  void noMoreObjectsThanThreadsMayHoldAreNotEnough() {
    library.has(8, 0);
    pass(120);
    assertThat(lost.lostOf(SITE)).isNull();

    library.has(1, 0);
    pass(3_700);
    assertThat(lost.lostOf(SITE)).isEqualTo(lost(9, 9));
  }

  @Test
  void threadsWhoseRegistersWereReadHoldNoMore() {
    library.has(5, 0);
    // A thread whose registers were not read may hold 4 addresses. 13 such threads may hold 52
    // addresses, more than the 50 objects that the samples stand for.
    library.unreadThreads = 13;
    pass(120);
    assertThat(lost.lostOf(SITE)).isNull();

    library.unreadThreads = 12;
    pass(3_700);
    assertThat(lost.lostOf(SITE)).isEqualTo(lost(5, 5));
  }

  @Test
  void whereMemoryIsSwappedOrTooMuchNothingIsConcluded() {
    library.has(50, 0);
    library.swapped = 4_096;
    pass(120);
    assertThat(lost.lostOf(SITE)).isNull();

    library.swapped = 0;
    library.searched = (long) (0.2 * GIB);
    pass(7_200);
    assertThat(lost.lostOf(SITE)).isNull();
  }

  @Test
  void whatIsFoundLaterIsLostNoMore() {
    library.has(50, 0);
    pass(120);
    assertThat(lost.lostOf(SITE)).isNotNull();
    library.objects.clear();
    library.has(50, 1);
    pass(3_700);
    assertThat(lost.lostOf(SITE)).isNull();
  }

  @Test
  void objectsThatCameSinceDoNotRefuteWhatIsLost() {
    library.has(20, 0);
    pass(120);
    library.has(80, 1, 1_000);
    pass(3 * 3_700);
    assertThat(lost.lostOf(SITE)).isEqualTo(lost(20, 20));
  }

  @Test
  void whatIsNotSoughtAgainStaysLost() {
    library.has(50, 0);
    pass(120);
    library.objects.clear();
    sites = List.of(VerdictsByHand.verdict(Verdict.UNUSED, "com.shop.Store.open", 7, 1e6));
    pass(3_700);
    assertThat(library.searches.get(2)).containsExactly(7);
    assertThat(lost.lostOf(SITE)).isNotNull();
  }

  @Test
  void theJvmsOwnSitesAndThoseKnownToBeFineAreNotSought() {
    SiteVerdict fine =
        VerdictsByHand.verdict(Verdict.UNUSED, "com.shop.Cart.zip", 12, 1e6).acknowledged(true);
    SiteVerdict growing = VerdictsByHand.verdict(Verdict.GROWING, "com.shop.Store.open", 7, 2e6);
    SiteVerdict own = VerdictsByHand.verdict(Verdict.UNUSED, "libjvm.so!JfrStringPool.add", 5, 3e6);
    List<SiteVerdict> others = List.of(fine, growing, own);
    sites = others;
    pass(15);
    assertThat(library.searches).isEmpty();

    sites = Stream.concat(Stream.of(unused), others.stream()).toList();
    pass(15);
    assertThat(library.searches).containsExactly(List.of(7, SITE));
  }

  /**
   * The search also includes the sites that are not suspected, because the next search comes an
   * hour later.
   */
  @Test
  void otherSitesAreSoughtAfterThoseThatAreSuspected() {
    SiteVerdict pool = VerdictsByHand.verdict(Verdict.POOL, "com.shop.Pool.fill", 9, 3e6);
    SiteVerdict healthy = VerdictsByHand.verdict(Verdict.HEALTHY, "com.shop.Cart.zip", 12, 4e6);
    SiteVerdict growing = VerdictsByHand.verdict(Verdict.GROWING, "com.shop.Store.open", 7, 2e6);
    sites = List.of(unused, pool, healthy, growing);
    pass(15);
    assertThat(library.searches).containsExactly(List.of(7, SITE, 12, 9));
  }

  /** The verdict has 20 stacks, but shows only ten. */
  @Test
  void allStacksOfASuspectAreSoughtAndNoneTwice() {
    List<Integer> stacks = IntStream.rangeClosed(SITE, SITE + 19).boxed().toList();
    lost.setStacks(Map.of(SITE, stacks));
    sites =
        List.of(
            unused,
            VerdictsByHand.verdict(Verdict.HEALTHY, "com.shop.Report.render", SITE + 3, 1e5));
    pass(15);
    assertThat(library.searches).containsExactly(stacks);
  }

  @Test
  void notMoreSitesAreSoughtThanTheLibraryTakes() {
    lost.setStacks(Map.of(SITE, IntStream.rangeClosed(SITE, SITE + 99).boxed().toList()));
    pass(15);
    assertThat(library.searches.get(0)).hasSize(NativeLibrary.MOST_SEARCHED_SITES);
  }

  private static LostObjects lost(int sought, int lost) {
    EstimatedShare share = EstimatedShare.of(lost, sought, sought);
    return new LostObjects(sought, lost, share, share);
  }

  /** Lets time pass. Every 15 s, decides whether to search memory. */
  private void pass(double time) {
    LeakReport report = new LeakReport(Instant.EPOCH, Observation.off("not asked"), sites, "");
    for (double end = seconds + time; seconds < end; seconds += 15) {
      lost.advance(library, report, collections, THREADS, (long) (seconds * 1e9));
    }
  }
}
