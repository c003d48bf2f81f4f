package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class CollapsedReportTest {

  @Test
  void eachLineIsAStackFromTheOutermostFrameAndItsFigure() throws Exception {
    assertThat(ExampleSites.text(ReportFormat.COLLAPSED, ExampleSites.service()))
        .isEqualTo(
            """
            com.example.Main.main;com.example.web.Controller.handle;java.util.zip.Deflater.init;\
            libzip.so!deflateInit2_ 3145728
            com.example.Main.main;com.example.Cache.load;libjvm.so!Arena::grow 1048576
            libjvm.so!Arena::grow 524288
            [unknown] 64
            """);
  }

  @Test
  void theMetricChoosesTheFigure() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    ReportFormat.COLLAPSED.write(ExampleSites.service(), ReportMetric.ALLOCATED_OBJECTS, out);

    assertThat(out.toString())
        .contains("libzip.so!deflateInit2_ 100\n", "com.example.Buffers.take 900\n");
  }

  @Test
  void estimatesAreRoundedAndUnknownOnesLeftOut() throws Exception {
    CallSite known = ExampleSites.site(1, 1, 1, 1, 1, ExampleSites.DEFLATE);

    assertThat(
            ExampleSites.text(
                ReportFormat.COLLAPSED,
                ExampleSites.of(withLiveBytes(known, 99.6), withLiveBytes(known, Double.NaN))))
        .isEqualTo("libzip.so!deflateInit2_ 100\n");
  }

  @Test
  void namesCannotBreakStacksOrLines() throws Exception {
    StackFrame odd = StackFrame.ofLibrary("a;b", "c\nd\re\u2028f 7", 0);

    assertThat(
            ExampleSites.text(
                ReportFormat.COLLAPSED, ExampleSites.of(ExampleSites.site(1, 1, 8, 1, 8, odd))))
        .isEqualTo("a:b!c d e f 7 8\n");
  }

  @Test
  void nothingIsAnEmptyFile() throws Exception {
    assertThat(
            ExampleSites.bytes(
                ReportFormat.COLLAPSED, CallSites.none(ExampleSites.TIME, "stacks are off")))
        .isEmpty();
  }

  private static CallSite withLiveBytes(CallSite site, double bytes) {
    return new CallSite(
        site.number(),
        List.copyOf(site.frames()),
        site.name(),
        site.library(),
        site.samples(),
        site.allocatedObjects(),
        site.allocatedBytes(),
        site.liveObjects(),
        new Estimate(bytes, 0, 1),
        site.bytesPerSecond(),
        site.rateSeconds(),
        site.ages());
  }
}
