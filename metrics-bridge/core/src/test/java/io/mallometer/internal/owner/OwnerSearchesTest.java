package io.mallometer.internal.owner;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SilentLibrary;
import io.mallometer.internal.library.HeapGraph;
import io.mallometer.internal.library.HeapGraph.HeapObject;
import io.mallometer.internal.library.HeapGraph.Hold;
import io.mallometer.internal.library.HeapGraph.Kind;
import io.mallometer.internal.library.OwnerSearch;
import io.mallometer.internal.library.OwnerSearch.Figures;
import io.mallometer.internal.library.OwnerSearch.Step;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Holding;
import io.mallometer.model.OwnerReport.Outcome;
import io.mallometer.model.Status;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Tests how much a search for the owners of native memory may affect the program, and why a search
 * is refused.
 */
class OwnerSearchesTest {

  private static final double GIB = 1L << 30;
  private static final int SAMPLES = 4;

  /** The number of a site whose objects are proven to be lost. */
  private static final int LOST = 8;

  private double heap = 0.1 * GIB;
  private double room = 100 * GIB;
  private OwnerBudget budget = OwnerBudget.of(MallometerOptions.defaults());
  private final Simulated search = new Simulated();

  private final OwnerSearches searches =
      new OwnerSearches(
          new SilentLibrary(Status.counting()) {
            @Override
            public OwnerSearch searchOwners(int site) {
              search.open = true;
              return search;
            }
          },
          new OwnerSearches.WalkConditions() {
            @Override
            public PauseEstimate estimate(double correction) {
              return new PauseEstimate(heap, false, 1, correction);
            }

            @Override
            public double committedHeapBytes() {
              return heap;
            }

            @Override
            public double roomBytes() {
              return room;
            }
          },
          () -> budget,
          site -> site == LOST,
          Clock.systemUTC());

  /**
   * A simulated search. One object holds the addresses of all four samples, and the search never
   * finds all referrers of this object.
   */
  private static final class Simulated implements OwnerSearch {
    final List<Step> done = new ArrayList<>();
    double walkSeconds = 0.1;
    boolean open;
    int freed;
    int samples = SAMPLES;
    int held = SAMPLES;
    String failsAt = "";
    Runnable duringWalk = () -> {};

    @Override
    public Figures begun() {
      return figures("");
    }

    private Figures figures(String failure) {
      return new Figures(failure, samples, 0, held < SAMPLES ? 1 : 0, 0, 1, 1, walkSeconds);
    }

    @Override
    public Figures step(Step step) {
      if (failsAt.equals(step.name())) {
        return figures("it fails");
      }
      done.add(step);
      duringWalk.run();
      return figures("");
    }

    @Override
    public HeapGraph graph() {
      List<Hold> holds = new ArrayList<>();
      for (int i = 0; i < held; i++) {
        holds.add(new Hold(i, i < freed, 0, "app.Owner", "address", 0));
      }
      return new HeapGraph(
          SAMPLES,
          freed,
          holds,
          List.of(new HeapObject("app.Owner", Kind.OTHER, true, false, true, true, List.of())));
    }

    @Override
    public void close() {
      open = false;
    }
  }

  private void refused(OwnerReport report, String reason) {
    assertThat(report.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(report.explanation()).contains(reason);
    assertThat(search.done).isEmpty();
  }

  @Test
  void oneWalkFindsTheHolders() {
    OwnerReport report = searches.search(7, 0);
    assertThat(report.outcome()).isEqualTo(Outcome.DONE);
    assertThat(report.ways().get(0).holding()).isEqualTo(Holding.HELD);
    assertThat(search.done).containsExactly(Step.HOLDERS);
    assertThat(search.open).isFalse();
    assertThat(searches.latest()).contains(report);
  }

  /** A walk over the Java heap cannot find addresses that are stored in native memory. */
  @Test
  void whatNoJavaLongHoldsIsLostOnlyIfSearchesOfTheProcessSaySo() {
    search.held = 0;
    assertThat(searches.search(7, 0).explanation())
        .contains("no Java long holds their address. Native code may hold it;")
        .contains("or they are lost, which only the search for lost memory can tell");
    assertThat(searches.search(LOST, 0).explanation())
        .endsWith(
            "no Java long holds their address. They are lost: searches of the process found no"
                + " address of most of them anywhere.");
  }

  @Test
  void oneSampleStopsNothing() {
    search.samples = 1;
    OwnerReport report = searches.search(7, 8);
    assertThat(report.outcome()).isEqualTo(Outcome.UNSUPPORTED);
    assertThat(report.explanation()).startsWith("1 sampled object is too few");
    assertThat(search.done).isEmpty();
    assertThat(search.open).isFalse();
  }

  @Test
  void aLongPauseIsRefusedBeforeAndTheWayOutIsNamed() {
    heap = 4 * GIB;
    OwnerReport report = searches.search(7, 0);
    refused(
        report, "would stop the program for about 4.8 s, and mallometer.owners.max-pause allows");
    assertThat(report.explanation()).contains("mallometer owners has options (--pause, --total)");
    assertThat(report.estimatedPauseSeconds()).isBetween(4.7, 4.9);
    assertThat(searches.outlook().refusal()).contains("4.8 s");
  }

  @Test
  void aCallerMayHaveABudgetOfItsOwn() {
    heap = 4 * GIB;
    OwnerBudget large = new OwnerBudget(Duration.ofSeconds(20), Duration.ofSeconds(60));
    assertThat(searches.search(7, 0, large).outcome()).isEqualTo(Outcome.DONE);
  }

  @Test
  void aBudgetOfZeroForbidsAll() {
    budget = new OwnerBudget(Duration.ZERO, Duration.ZERO);
    refused(searches.search(7, 0), "switched off");
  }

  @Test
  void aWalkIsRefusedWhereItsMemoryWouldTakeAQuarterOfTheRoom() {
    room = 40 << 20;
    refused(searches.search(7, 0), "below the limit");
  }

  @Test
  void linksEndWhereTheBudgetEnds() {
    search.walkSeconds = 0.9;
    budget = new OwnerBudget(Duration.ofSeconds(1), Duration.ofSeconds(3));
    OwnerReport report = searches.search(7, 8);
    assertThat(report.outcome()).isEqualTo(Outcome.DONE);
    assertThat(report.pauses()).hasSize(3);
    assertThat(report.ways().get(0).holding()).isEqualTo(Holding.DEEPER);
    assertThat(report.remarks())
        .singleElement()
        .asString()
        .contains("over 2 links", "mallometer.owners.max-total-pause");
  }

  @Test
  void theFirstWalkCorrectsTheEstimateOfTheNext() {
    double before = searches.outlook().pauseSeconds();
    search.walkSeconds = 2 * before;
    searches.search(7, 0);
    assertThat(searches.outlook().pauseSeconds()).isBetween(1.9 * before, 2.1 * before);
  }

  @Test
  void refusedNativeMemoryIsARemark() {
    search.held = 2;
    search.failsAt = "POINTERS";
    OwnerReport report = searches.search(7, 0);
    assertThat(report.outcome()).isEqualTo(Outcome.DONE);
    assertThat(report.remarks())
        .containsExactly("ways through native memory were not followed: it fails");
  }

  @Test
  void aJvmThatRefusesTheWalkIsSaid() {
    search.failsAt = "HOLDERS";
    OwnerReport report = searches.search(7, 0);
    assertThat(report.outcome()).isEqualTo(Outcome.UNSUPPORTED);
    assertThat(report.explanation()).isEqualTo("it fails");
    assertThat(search.open).isFalse();
    assertThat(searches.latest()).isEmpty();
  }

  @Test
  void aDetachMeanwhileLeavesNoAnswer() {
    search.freed = SAMPLES;
    OwnerReport report = searches.search(7, 0);
    assertThat(report.outcome()).isEqualTo(Outcome.UNSUPPORTED);
    assertThat(report.explanation()).contains("counting ended");
  }

  @Test
  void aFullHeapEndsTheSearch() {
    search.duringWalk =
        () -> {
          throw new OutOfMemoryError("simulated");
        };
    assertThat(searches.search(7, 0).explanation()).contains("no memory");
    assertThat(search.open).isFalse();
  }

  @Test
  void thereIsOneSearchAtATime() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    search.duringWalk =
        () -> {
          begun.countDown();
          try {
            mayEnd.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        };
    AtomicReference<OwnerReport> first = new AtomicReference<>();
    Thread other = new Thread(() -> first.set(searches.search(7, 0)));
    other.start();
    begun.await();
    OwnerReport second = searches.search(7, 0);
    assertThat(second.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(second.explanation()).isEqualTo("another search is under way");
    assertThat(searches.outlook().refusal()).isEqualTo("another search is under way");
    mayEnd.countDown();
    other.join();
    assertThat(first.get().outcome()).isEqualTo(Outcome.DONE);
  }
}
