package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.VerdictsByHand;
import io.mallometer.model.LeakReport;
import io.mallometer.model.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class LeakFormatTest {

  @Test
  void textSaysWhatEachSiteKeepsAndWhoAllocatedIt() throws IOException {
    assertThat(written(LeakFormat.TEXT, VerdictsByHand.four()))
        .startsWith(
            "Leaks at 2026-01-01T00:00:00Z; 120 epochs of observation\n"
                + "Lost memory: searched 310 MiB twice: 2 call sites lose memory\n")
        .contains(
            """
            leak     com.shop.Report.render keeps memory
                     leak (confidence 0.95) since 2026-01-01T00:00:00Z, evidence: outlasted
            """)
        .containsPattern("suspected 1.2 GiB \\([\\d.]+ GiB to [\\d.]+ GiB\\) of 1.2 GiB live\n")
        .contains("last access 2026-01-01T00:00:00Z by worker at a.B.use(B.java:3)")
        .contains("last write not available: perf_event_open is forbidden")
        .contains("           com.shop.Report.render(Some.java:12)\n")
        .contains("         site 389 holds 68.4 KiB, allocated by\n")
        .contains("; acknowledged")
        .contains("growing  com.shop.Store.open keeps memory")
        .contains("pool     com.shop.Pool.fill keeps memory");
  }

  @Test
  void withoutObservationTheReasonIsGiven() throws IOException {
    for (LeakFormat format : LeakFormat.values()) {
      Instant time = Instant.EPOCH.plusNanos(5);
      assertThat(written(format, LeakReport.none(time, "MALLOMETER_LEAKS says so")))
          .contains("Leaks at 1970-01-01T00:00:00Z; ")
          .contains("not observed: MALLOMETER_LEAKS says so")
          .contains("No call site has the verdict leak");
    }
  }

  @Test
  void whyNoMoreObjectsAreObservedIsSaid() throws IOException {
    assertThat(
            written(LeakFormat.TEXT, VerdictsByHand.pausedReport("the process locks its memory")))
        .startsWith(
            "Leaks at 2026-01-01T00:00:00Z; 120 epochs of observation; the process locks its"
                + " memory\n");
  }

  @Test
  void namesCannotBecomeMarkupOrEscapeSequences() throws IOException {
    LeakReport report =
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.LEAK, "a.B<script>\u001b[2J.c\"&", 1, 70_000));
    assertThat(written(LeakFormat.HTML, report))
        .doesNotContain("<script")
        .contains("a.B&lt;script&gt;?[2J.c&quot;&amp;");
    assertThat(written(LeakFormat.TEXT, report)).doesNotContain("\u001b");
  }

  private static String written(LeakFormat format, LeakReport report) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    format.write(report, false, out);
    return out.toString(StandardCharsets.UTF_8);
  }
}
