package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SilentInterposer;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.interposer.MemorySearch;
import io.mallometer.internal.interposer.MemorySearch.State;
import io.mallometer.internal.interposer.SoughtObject;
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
import org.junit.jupiter.api.Test;

/** When memory is searched, and what two searches must agree on. */
class LostMemoryTest {

  private static final int SITE = 388;
  private static final int THREADS = 20;
  private static final double GIB = 1 << 30;

  private final Library library = new Library();
  private final LostMemory lost = new LostMemory(1);
  private final SiteVerdict unused =
      VerdictsByHand.verdict(Verdict.UNUSED, "com.shop.Report.render", SITE, 1e6);
  private List<SiteVerdict> sites = List.of(unused);
  private double seconds;

  /** Answers searches at once. */
  private static final class Library extends SilentInterposer {
    final List<List<Integer>> searches = new ArrayList<>();
    final List<SoughtObject> objects = new ArrayList<>();
    String refusal = "";
    State state = State.DONE;
    long searched = (long) GIB;
    long swapped;

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
          0,
          0,
          0.3,
          searched,
          (long) GIB,
          swapped,
          0,
          objects);
    }

    void has(int count, long references) {
      for (int i = 0; i < count; i++) {
        objects.add(new SoughtObject(objects.size(), SITE, 4_096, 0.1, 0, references, false));
      }
    }
  }

  @Test
  void objectsWithoutAddressInTwoSearchesAreLost() {
    library.has(47, 0);
    library.has(3, 1);

    assertThat(lost.words()).isEqualTo("not searched yet: nothing is unused");
    pass(59);
    assertThat(lost.of(SITE)).isNull();
    assertThat(lost.words()).isEqualTo("searched 1.0 GiB; a second search must confirm it");
    pass(31);

    assertThat(lost.of(SITE)).isEqualTo(lost(50, 47));
    assertThat(lost.words()).isEqualTo("searched 1.0 GiB twice: 1 call site loses memory");
    assertThat(library.searches).hasSize(2);
  }

  @Test
  void eachStackOfALostVerdictIsLost() {
    lost.take(Map.of(SITE, IntStream.rangeClosed(SITE, SITE + 20).boxed().toList()));
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

  @Test
  void memoryIsSearchedTwiceInAnHour() {
    pass(4 * 3_600 - 60);
    assertThat(library.searches).hasSize(8);
  }

  @Test
  void ofOneThatFailsAnHourIsWaitedToo() {
    library.state = State.FAILED;
    library.has(50, 0);
    pass(4 * 3_600 - 60);
    assertThat(library.searches).hasSize(4);
    assertThat(lost.of(SITE)).isNull();
    assertThat(lost.words()).isEqualTo("not known: process_vm_readv is refused");
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
    assertThat(lost.of(SITE)).isNull();
  }

  @Test
  void fewerThanHalfAreNotEnough() {
    library.has(24, 0);
    library.has(26, 2);
    pass(120);
    assertThat(lost.of(SITE)).isNull();
  }

  @Test
  void fourSamplesAreNotEnough() {
    library.has(4, 0);
    pass(120);
    assertThat(lost.of(SITE)).isNull();
  }

  /** 8 samples stand for 80 objects, and 20 threads may have as many in registers. */
  @Test
  void noMoreObjectsThanThreadsMayHoldAreNotEnough() {
    library.has(8, 0);
    pass(120);
    assertThat(lost.of(SITE)).isNull();

    library.has(1, 0);
    pass(3_700);
    assertThat(lost.of(SITE)).isEqualTo(lost(9, 9));
  }

  @Test
  void whereMemoryIsSwappedOrTooMuchNothingIsConcluded() {
    library.has(50, 0);
    library.swapped = 4_096;
    pass(120);
    assertThat(lost.of(SITE)).isNull();

    library.swapped = 0;
    library.searched = (long) (0.2 * GIB);
    pass(7_200);
    assertThat(lost.of(SITE)).isNull();
  }

  @Test
  void whatIsFoundLaterIsLostNoMore() {
    library.has(50, 0);
    pass(120);
    assertThat(lost.of(SITE)).isNotNull();
    library.objects.clear();
    library.has(50, 1);
    pass(3_700);
    assertThat(lost.of(SITE)).isNull();
  }

  @Test
  void whatIsNotSoughtAgainStaysLost() {
    library.has(50, 0);
    pass(120);
    library.objects.clear();
    sites = List.of(VerdictsByHand.verdict(Verdict.UNUSED, "com.shop.Store.open", 7, 1e6));
    pass(3_700);
    assertThat(library.searches.get(2)).containsExactly(7);
    assertThat(lost.of(SITE)).isNotNull();
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

  /** The next search is an hour later. */
  @Test
  void otherSitesAreSoughtAfterThoseThatAreSuspected() {
    SiteVerdict pool = VerdictsByHand.verdict(Verdict.POOL, "com.shop.Pool.fill", 9, 3e6);
    SiteVerdict healthy = VerdictsByHand.verdict(Verdict.HEALTHY, "com.shop.Cart.zip", 12, 4e6);
    SiteVerdict growing = VerdictsByHand.verdict(Verdict.GROWING, "com.shop.Store.open", 7, 2e6);
    sites = List.of(unused, pool, healthy, growing);
    pass(15);
    assertThat(library.searches).containsExactly(List.of(7, SITE, 12, 9));
  }

  /** A verdict shows ten. */
  @Test
  void allStacksOfASuspectAreSoughtAndNoneTwice() {
    List<Integer> stacks = IntStream.rangeClosed(SITE, SITE + 19).boxed().toList();
    lost.take(Map.of(SITE, stacks));
    sites =
        List.of(
            unused,
            VerdictsByHand.verdict(Verdict.HEALTHY, "com.shop.Report.render", SITE + 3, 1e5));
    pass(15);
    assertThat(library.searches).containsExactly(stacks);
  }

  @Test
  void notMoreSitesAreSoughtThanTheLibraryTakes() {
    lost.take(Map.of(SITE, IntStream.rangeClosed(SITE, SITE + 99).boxed().toList()));
    pass(15);
    assertThat(library.searches.get(0)).hasSize(Interposer.MOST_SOUGHT_SITES);
  }

  private static Lost lost(int sought, int lost) {
    Share share = Share.of(lost, sought, sought);
    return new Lost(sought, lost, share, share);
  }

  /** Every 15 seconds, as the poller asks. */
  private void pass(double time) {
    LeakReport report = new LeakReport(Instant.EPOCH, Observation.off("not asked"), sites, "");
    for (double end = seconds + time; seconds < end; seconds += 15) {
      lost.advance(library, report, THREADS, (long) (seconds * 1e9));
    }
  }
}
