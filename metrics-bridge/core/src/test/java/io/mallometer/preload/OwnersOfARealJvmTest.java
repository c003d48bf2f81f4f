package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.model.CallSite;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Holding;
import io.mallometer.model.OwnerReport.Outcome;
import io.mallometer.model.OwnerReport.Way;
import java.lang.ref.SoftReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("preload")
@ExtendWith(Counted.class)
class OwnersOfARealJvmTest {

  private static final int BLOCKS = 60;
  private static final int BYTES = 30_000;
  private static final OwnerBudget ANY =
      new OwnerBudget(Duration.ofMinutes(5), Duration.ofMinutes(50));

  /**
   * The bitwise complements of the allocated addresses, so that a search does not find the
   * addresses here.
   */
  private final List<Long> allocated = new ArrayList<>();

  private final Mallometer mallometer = Mallometer.open();
  private final Mallometer.CloseLook look = mallometer.sites().closely();
  private static final List<Object> KEPT = new ArrayList<>();

  private record Handle(long address) {}

  /** Makes the library record Java frames, which the tests need to find their sites. */
  @BeforeEach
  void readOnce() {
    look.read();
  }

  @AfterEach
  void end() {
    KEPT.clear();
    allocated.forEach(complement -> NativeWork.freeMemory(~complement));
    look.close();
    mallometer.close();
  }

  private long block() {
    long address = NativeWork.allocateMemory(BYTES);
    allocated.add(~address);
    return address;
  }

  private CallSite site(String method) {
    return sites(method).stream()
        .max(Comparator.comparingDouble(site -> site.liveBytes().value()))
        .orElseThrow();
  }

  private List<CallSite> sites(String method) {
    return look.read().sites().stream()
        .filter(
            site ->
                site.frames().stream()
                    .anyMatch(frame -> frame.toString().contains("OwnersOfARealJvmTest." + method)))
        .toList();
  }

  private OwnerReport owners(String method, int links) {
    OwnerReport report = mallometer.leaks().owners(site(method).number(), links, ANY);
    assertThat(report.outcome()).as(report.explanation()).isEqualTo(Outcome.DONE);
    return report;
  }

  private void heldAs(String method, Holding holding, String words) {
    OwnerReport report = owners(method, 8);
    Way first = report.ways().get(0);
    assertThat(first.holding()).as(report.toString()).isEqualTo(holding);
    assertThat(report.explanation()).contains(words);
    assertThat(first.samples()).isGreaterThan(BLOCKS / 2);
  }

  @Test
  void aStaticListKeepsHandles() {
    for (int i = 0; i < BLOCKS; i++) {
      KEPT.add(new Handle(block()));
    }
    heldAs(
        "aStaticListKeepsHandles",
        Holding.KEPT,
        "OwnersOfARealJvmTest$Handle.address <- ArrayList <- static OwnersOfARealJvmTest.KEPT.");
    OwnerReport holdersOnly = owners("aStaticListKeepsHandles", 0);
    assertThat(holdersOnly.ways().get(0).holding()).isEqualTo(Holding.HELD);
    assertThat(holdersOnly.pauses()).hasSize(1);
  }

  @Test
  void aZStreamLeadsToTheBuffersOfZlib() {
    byte[] out = new byte[64];
    for (int i = 0; i < BLOCKS; i++) {
      Deflater deflater = new Deflater();
      deflater.setInput(out);
      deflater.deflate(new byte[64]);
      KEPT.add(deflater);
    }
    OwnerReport report = owners("aZStreamLeadsToTheBuffersOfZlib", 8);
    KEPT.forEach(deflater -> ((Deflater) deflater).end());
    Way first = report.ways().get(0);
    assertThat(first.throughNative()).as(report.toString()).isTrue();
    assertThat(first.holding()).isEqualTo(Holding.KEPT);
    assertThat(first.paths().get(0).text())
        .isEqualTo("Deflater.zsRef <- ArrayList <- static OwnersOfARealJvmTest.KEPT");
  }

  /** The JVM allocates for each thread a description and memory areas. */
  @Test
  void liveThreadsKeepTheJvmsStructuresOfThem() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < BLOCKS; i++) {
      Thread thread = new Thread(() -> await(end));
      threads.add(thread);
      thread.start();
    }
    try {
      List<String> others = new ArrayList<>();
      int named = 0;
      for (CallSite site : largestSitesOfThreads("liveThreadsKeepTheJvmsStructuresOfThem")) {
        OwnerReport report = mallometer.leaks().owners(site.number(), 8, ANY);
        if (report.samples() < BLOCKS / 2) {
          continue;
        }
        if (report.explanation().contains("kept by Thread.eetop")) {
          named++;
          assertThat(report.ways().get(0).holding()).isEqualTo(Holding.KEPT);
          assertThat(report.ways().get(0).samples()).isGreaterThan(BLOCKS / 2);
        } else {
          others.add(site.name() + ", " + site.liveBytes().value() + ": " + report.explanation());
        }
      }
      System.out.printf("of a thread's structures %d are named, not %s%n", named, others);
      assertThat(named).as(others.toString()).isPositive();
      assertThat(others).allMatch(other -> !other.contains("kept by"));
    } finally {
      end.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  private List<CallSite> largestSitesOfThreads(String method) {
    return sites(method).stream()
        .filter(site -> site.samples() >= BLOCKS / 2)
        .filter(
            site ->
                site.frames().stream()
                    .anyMatch(frame -> frame.toString().contains("Thread.start0")))
        .sorted(Comparator.comparingDouble(site -> -site.liveBytes().value()))
        .limit(5)
        .toList();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void softReferencesKeepSoftly() {
    for (int i = 0; i < BLOCKS; i++) {
      KEPT.add(new SoftReference<>(new Handle(block())));
    }
    heldAs("softReferencesKeepSoftly", Holding.SOFTLY, "softly kept by");
  }

  @Test
  void aLocalVariableKeepsALongArray() {
    long[] addresses = new long[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      addresses[i] = block();
    }
    heldAs("aLocalVariableKeepsALongArray", Holding.LOCAL_VARIABLE, "held by long[]");
    assertThat(addresses[0]).isNotZero();
  }

  @Test
  void nobodyHoldsAnAddressThatWasSplit() {
    int[] halves = new int[2 * BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      long address = NativeWork.allocateMemory(BYTES);
      halves[2 * i] = (int) (address >>> 32);
      halves[2 * i + 1] = (int) address;
    }
    OwnerReport report = owners("nobodyHoldsAnAddressThatWasSplit", 8);
    // Garbage of other tests may contain the same addresses, so UNREACHABLE is right too.
    assertThat(report.ways().get(0).holding())
        .as(report.toString())
        .isIn(Holding.NOBODY, Holding.UNREACHABLE);
    for (int i = 0; i < BLOCKS; i++) {
      NativeWork.freeMemory((long) halves[2 * i] << 32 | halves[2 * i + 1] & 0xffffffffL);
    }
  }

  @Test
  void aSiteWithoutSamplesHasNoOwners() {
    OwnerReport report = mallometer.leaks().owners(1 << 20, 0, ANY);
    assertThat(report.outcome()).isEqualTo(Outcome.UNSUPPORTED);
    assertThat(report.explanation()).isEqualTo("the site has no live samples");
  }
}
