package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks which growth {@code top} and {@code report --duration} print, and over what time. */
class TopScreenTest {

  private static final double MIB = 1 << 20;

  private final SimulatedSource source = new SimulatedSource();
  private final TopScreen board = new TopScreen("simulated", "1");

  private List<String> linesWith(String name) {
    return board.lines(100, 40, TopScreen.Sort.LIVE).stream()
        .filter(line -> line.endsWith("  " + name) || line.contains("  " + name + " "))
        .map(line -> line.strip().replaceAll(" +", " "))
        .toList();
  }

  @Test
  void aLibraryAndASiteOfOneNameAreNotMixed() throws Exception {
    source.library("libz.so", 100 * MIB).site("libz.so", 10 * MIB);
    board.read(source);
    board.read(source.after(60));

    assertThat(linesWith("libz.so"))
        .containsExactly("100 MiB +0 B - - libz.so", "10.0 MiB +0 B - - libz.so");
  }

  @Test
  void growthIsOverAMinuteAtLeast() throws Exception {
    source.library("libz.so", 100 * MIB).site("shop.Report.pack", 50 * MIB);
    board.read(source);
    source.after(30).library("libz.so", 104 * MIB).site("shop.Report.pack", 54 * MIB);
    board.read(source);
    assertThat(linesWith("libz.so")).containsExactly("104 MiB - - - libz.so");
    assertThat(board.line()).contains(" watch resident ", "malloc_live 104 MiB growth -/min");
    assertThat(board.lines(100, 20, TopScreen.Sort.LIVE))
        .startsWith(Text.left("watch: Memory grows", 100));
    assertThat(board.lines(14, 20, TopScreen.Sort.LIVE))
        .startsWith(Text.left("watch: Memory", 14), Text.left("grows", 14));

    source.after(120).library("libz.so", 108 * MIB).site("shop.Report.pack", 60 * MIB);
    board.read(source);
    // The growth is computed from the reading 90 s before, not from the first one.
    assertThat(linesWith("libz.so")).containsExactly("108 MiB +2.7 MiB - - libz.so");
    assertThat(linesWith("shop.Report.pack"))
        .containsExactly("60.0 MiB +4.0 MiB - - shop.Report.pack");
    assertThat(board.line()).contains("growth +2.7 MiB/min");
  }

  @Test
  void aTerminalOfEightyColumnsShowsBothRates() throws Exception {
    board.read(source.library("libz.so", 1000 * MIB));
    board.read(source.after(60));

    assertThat(board.lines(80, 20, TopScreen.Sort.LIVE))
        .anyMatch(line -> line.matches("resident .*/min\\)  malloc live .*/min\\) *"));
  }

  @Test
  void fewSamplesNeedFiveMinutes() throws Exception {
    source.withError(0.4).library("libz.so", 100 * MIB).site("shop.Report.pack", 50 * MIB);
    board.read(source);
    board.read(source.after(240));
    assertThat(linesWith("shop.Report.pack")).containsExactly("50.0 MiB - - - shop.Report.pack");

    board.read(source.after(300).site("shop.Report.pack", 60 * MIB));
    assertThat(linesWith("shop.Report.pack"))
        .containsExactly("60.0 MiB +2.0 MiB - - shop.Report.pack");
  }

  @Test
  void whatTheProcessRemembersIsUsedAtOnce() throws Exception {
    long start = SimulatedSource.START.toEpochMilli();
    source.withTrends(
        """
        {"times": [%d, %d, %d], "libraries": [], "sites": [
          {"figures": {"key": "shop.Report.pack"}, "history": [10485760, 20971520, 31457280]}]}
        """
            .formatted(start - 120_000, start - 60_000, start));
    board.read(source.site("shop.Report.pack", 30 * MIB).site("shop.Cache.put", MIB));

    assertThat(linesWith("shop.Report.pack"))
        .containsExactly("30.0 MiB +10.0 MiB - - shop.Report.pack");
    assertThat(linesWith("shop.Cache.put")).containsExactly("1.0 MiB - - - shop.Cache.put");
  }

  @Test
  void aReportShowsChangesOverAtLeastOneMinute() throws Exception {
    SiteGrowth growth = SiteGrowth.from(source.site("shop.Report.pack", 10 * MIB));
    Json soon = Json.parse(growth.until(source.after(20).site("shop.Report.pack", 20 * MIB), 5));
    assertThat(soon.at("changes").list()).isEmpty();
    assertThat(soon.at("reason").text())
        .isEqualTo("Watched for 20 s: growth is shown over at least 60 s");

    Json later = Json.parse(growth.until(source.after(60), 5));
    assertThat(later.at("reason").text()).isEmpty();
    assertThat(later.at("changes").list().get(0).at("liveBytesGrowth").number())
        .isEqualTo(10 * MIB);
  }

  @Test
  void aStackGoesDownToTheLineOfTheApplication() {
    List<String> frames =
        List.of(
            "libzip.so!zcalloc+0x1f",
            "libzip.so!deflateInit2_+0x8",
            "java.util.zip.Deflater.init(Deflater.java)",
            "java.util.zip.Deflater.<init>(Deflater.java:200)",
            "java.util.zip.Deflater.<init>(Deflater.java:210)",
            "io.netty.Codec.encode(Codec.java:12)",
            "shop.Report.pack(Report.java:31)",
            "shop.Main.main(Main.java:3)");

    assertThat(Text.stack(frames, "shop.Report.pack", 4)).isEqualTo(frames.subList(0, 7));
    assertThat(Text.stack(frames, "libzip.so!deflateInit2_", 4)).isEqualTo(frames.subList(0, 6));
    assertThat(Text.stack(frames.subList(0, 5), "libzip.so!deflateInit2_", 4)).hasSize(4);
    assertThat(Text.stack(frames, "shop.Report.pack", 8)).isEqualTo(frames);
  }
}
