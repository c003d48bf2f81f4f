package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.RequiredProgram;
import io.mallometer.model.CallSites;
import io.mallometer.model.SiteChange;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.StackFrame;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests profiles by reading them with Go's pprof. */
@Tag("process")
@Tag("any-jdk")
class PprofReportTest {

  @TempDir Path directory;

  @BeforeAll
  static void pprofIsThere() {
    RequiredProgram.onPath("go", "golang-go", "REQUIRE_PPROF");
  }

  @ParameterizedTest
  @CsvSource({
    "inuse_space, B, 4718656B",
    "alloc_space, B, 17918016B",
    "inuse_objects, count, 38",
    "alloc_objects, count, 1048"
  })
  void totalsAreThoseOfTheSites(String sampleType, String unit, String total) throws Exception {
    assertThat(
            pprof(
                ExampleSites.service(),
                "-top",
                "-sample_index=" + sampleType,
                "-unit=" + unit,
                "-nodefraction=0"))
        .contains("Showing nodes accounting for " + total + ", 100% of " + total + " total");
  }

  @Test
  void liveBytesAreTheDefault() throws Exception {
    assertThat(pprof(ExampleSites.service(), "-top", "-unit=B"))
        .contains("File: java\n", "Type: inuse_space\n", "Time: Nov 21, 2026 at 6:00pm (UTC)\n")
        .containsPattern("3145728B 66\\.67% 66\\.67% +3145728B 66\\.67% +libzip.so!deflateInit2_")
        .containsPattern(" 0 +0% +100% +4194304B 88\\.89% +com\\.example\\.Main\\.main");
  }

  @Test
  void linesFilesAndLibrariesAreThere() throws Exception {
    CallSites sites = ExampleSites.service();

    assertThat(pprof(sites, "-top", "-lines"))
        .contains("com.example.web.Controller.handle Controller.java:42");
    assertThat(pprof(sites, "-raw")).contains("libzip.so", "libjvm.so");
    assertThat(pprof(sites, "-tags"))
        .contains("site: Total", "com.example.Cache.load", "library: Total", "libzip.so");
    assertThat(pprof(sites, "-top", "-unit=B", "-tagfocus=library=libjvm.so"))
        .contains("Showing nodes accounting for 1572864B");
  }

  @Test
  void addressesWithoutASymbolAreKept() throws Exception {
    assertThat(
            pprof(
                ExampleSites.of(
                    ExampleSites.site(
                        1, 1, 8, 1, 8, StackFrame.ofLibrary("libstripped.so", "", 0xabcde))),
                "-raw"))
        .contains("0xabcde M=2 libstripped.so");
  }

  @Test
  void manySitesAddUp() throws Exception {
    CallSites sites = ExampleSites.generated(500, 60);
    long live = sites.sites().stream().mapToLong(ReportMetric.LIVE_BYTES::wholeOf).sum();

    assertThat(pprof(sites, "-top", "-unit=B", "-nodefraction=0"))
        .contains("of " + live + "B total");
  }

  @Test
  void librariesHaveTheirBuildIds() throws Exception {
    CallSites sites =
        ExampleSites.service().withBuildIds(Map.of("libzip.so", "0123456789abcdef0123"));

    assertThat(pprof(sites, "-raw"))
        .containsPattern("libzip\\.so 0123456789abcdef0123 \\[FN\\]")
        .containsPattern("libjvm\\.so +\\[FN\\]");
  }

  @Test
  void changesHaveTheirDurationAndWhatShrankIsNegative() throws Exception {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    ReportFormat.writeChanges(
        changes(change("grows", 1 << 20, 3 << 20, 7), change("shrinks", 4096, 1024, Double.NaN)),
        ExampleSites.service(),
        ReportMetric.LIVE_BYTES,
        written);
    byte[] profile = written.toByteArray();

    assertThat(pprof(profile, "-top", "-unit=B", "-nodefraction=0"))
        .contains("Type: inuse_space\n", "Duration: 30s")
        .containsPattern("2097152B .* com\\.example\\.Site\\.grows")
        .containsPattern("-3072B .* com\\.example\\.Site\\.shrinks");
    assertThat(pprof(profile, "-top", "-sample_index=alloc_objects", "-nodefraction=0"))
        .contains("Showing nodes accounting for 7, 100% of 7 total");
    assertThat(pprof(profile, "-comments")).contains("Changes since 2026-11-21T17:59:30Z");
  }

  private static SiteChanges changes(SiteChange... changes) {
    return new SiteChanges(
        Optional.of(ExampleSites.TIME.minusSeconds(30)),
        Optional.of(ExampleSites.TIME),
        List.of(changes),
        "");
  }

  private static SiteChange change(
      String name, double before, double after, double allocatedObjects) {
    return new SiteChange(
        1,
        name,
        "libzip.so",
        List.of(ExampleSites.java("com.example.Site", name, 1)),
        new SiteChange.Live(before, after, 0, 0),
        0,
        allocatedObjects);
  }

  private String pprof(CallSites sites, String... options) throws Exception {
    return pprof(ExampleSites.bytes(ReportFormat.PPROF, sites), options);
  }

  private String pprof(byte[] bytes, String... options) throws Exception {
    Path profile = directory.resolve("profile.pb.gz");
    Files.write(profile, bytes);
    List<String> command = new ArrayList<>(List.of("go", "tool", "pprof"));
    command.addAll(List.of(options));
    command.add(profile.toString());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("TZ", "UTC");
    builder.environment().put("HOME", directory.toString());
    builder.environment().put("PPROF_TMPDIR", directory.toString());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
