package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.CallSites;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.lang.management.ThreadMXBean;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("any-jdk")
@Tag("alone")
class ReportFormatTest {

  private static final int MIB = 1 << 20;
  private static CallSites many;

  @BeforeAll
  static void generate() {
    many = ExampleSites.generated(50_000, 60);
  }

  @Test
  void formatsAreFoundByTheirNames() {
    for (ReportFormat format : ReportFormat.values()) {
      assertThat(ReportFormat.byId(format.id())).contains(format);
    }
    assertThat(ReportFormat.byId("TABLE")).isEmpty();
  }

  /** The format must stream: it may hold at most 32 MiB in addition to the sites. */
  @ParameterizedTest
  @EnumSource
  void fiftyThousandSitesStream(ReportFormat format) throws Exception {
    Counted out = new Counted();
    long before = usedAfterCollection();

    format.write(many, ReportMetric.LIVE_BYTES, out);

    assertThat(out.isClosed).isFalse();
    assertThat(out.isFlushed).isTrue();
    assertThat(out.mostHeld - before).isLessThan(32L * MIB);
  }

  /**
   * Four times as many sites must take less than ten times the CPU time. The smaller of two
   * measurements counts, because other work on the machine slows a run. The larger report is
   * measured again only if its first measurement is too long.
   */
  @ParameterizedTest
  @EnumSource
  void theTimeGrowsAsTheSitesDo(ReportFormat format) throws Exception {
    CallSites quarter = first(10_000);
    CallSites whole = first(40_000);
    double seconds = Math.min(secondsOf(format, quarter), secondsOf(format, quarter));
    double most = 10 * Math.max(seconds, 0.05);
    double once = secondsOf(format, whole);

    assertThat(once < most ? once : secondsOf(format, whole)).isLessThan(most);
  }

  private static CallSites first(int count) {
    return new CallSites(
        many.time(),
        many.sites().subList(0, count),
        many.samples(),
        many.dropped(),
        many.byteUnit(),
        "");
  }

  /** Returns the CPU time of writing the sites. */
  private static double secondsOf(ReportFormat format, CallSites sites) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long began = threads.getCurrentThreadCpuTime();
    format.write(sites, ReportMetric.LIVE_BYTES, OutputStream.nullOutputStream());
    return (threads.getCurrentThreadCpuTime() - began) / 1e9;
  }

  private static long usedAfterCollection() {
    System.gc();
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .mapToLong(pool -> pool.getUsage().getUsed())
        .sum();
  }

  /**
   * Collects garbage and measures the used heap each time the written bytes have doubled. Keeps the
   * maximum.
   */
  private static final class Counted extends OutputStream {

    private long bytes;
    private long next = MIB;
    private long mostHeld;
    private boolean isFlushed;
    private boolean isClosed;

    @Override
    public void write(int b) {
      count(1);
    }

    @Override
    public void write(byte[] buffer, int offset, int length) {
      count(length);
    }

    private void count(int length) {
      bytes += length;
      isFlushed = false;
      if (bytes >= next) {
        next = 2 * bytes;
        look();
      }
    }

    private void look() {
      mostHeld = Math.max(mostHeld, usedAfterCollection());
    }

    @Override
    public void flush() {
      look();
      isFlushed = true;
    }

    @Override
    public void close() {
      isClosed = true;
    }
  }
}
