package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.mallometer.model.CallSites;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("any-jdk")
class LargeReportsTest {

  private static final long MOST_BYTES = 16 << 20;

  @ParameterizedTest
  @EnumSource(names = {"TABLE", "COLLAPSED"})
  void manySitesTakeAFewMebibytes(ReportFormat format) throws Exception {
    CallSites sites = ExampleSites.generated(9_000, 30);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    // Loads the classes before the measurement, because loading them allocates.
    format.write(ExampleSites.service(), ReportMetric.LIVE_BYTES, OutputStream.nullOutputStream());

    long before = threads.getThreadAllocatedBytes(self);
    format.write(sites, ReportMetric.LIVE_BYTES, OutputStream.nullOutputStream());

    assertThat(threads.getThreadAllocatedBytes(self) - before).isLessThan(MOST_BYTES);
  }
}
