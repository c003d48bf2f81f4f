package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.SitesByHand;
import io.mallometer.VerdictsByHand;
import io.mallometer.model.CallSite;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.StackFrame;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class EvidenceBundleTest {

  private static final String PROPERTY = "mallometer.test.password";

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());
  private final ObjectMapper mapper = new ObjectMapper();

  @AfterEach
  void close() {
    System.clearProperty(PROPERTY);
    mallometer.close();
  }

  private byte[] zip(Map<String, String> settings) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Answer answer = new Views(mallometer).evidence(settings);
    assertThat(answer.contentType()).isEqualTo("application/zip");
    answer.body().writeTo(out);
    return out.toByteArray();
  }

  private static Map<String, String> entries(byte[] zip) throws IOException {
    Map<String, String> entries = new LinkedHashMap<>();
    ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(zip));
    for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
      entries.put(entry.getName(), new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
    return entries;
  }

  @Test
  void eachViewIsAFileBesideATextAndTheSettings() throws Exception {
    mallometer.setSites(SitesByHand.three());
    mallometer.poll();
    mallometer.setLeaks(VerdictsByHand.four());
    Map<String, String> entries = entries(zip(Map.of()));

    List<String> expected = new ArrayList<>(List.of("report.txt", "leaks.txt"));
    Views.NAMES.forEach(name -> expected.add(name + ".json"));
    expected.add("settings.json");
    assertThat(entries).containsOnlyKeys(expected);
    assertThat(entries.get("report.txt"))
        .startsWith("Native memory of process " + ProcessHandle.current().pid() + " at 2026-")
        .contains(mallometer.snapshot().diagnosis().sentence());
    assertThat(entries.get("leaks.txt")).contains("com.shop.Report.render");
    assertThat(mapper.readTree(entries.get("overview.json")).at("/diagnosis/sentence").asText())
        .isEqualTo(mallometer.snapshot().diagnosis().sentence());
    assertThat(mapper.readTree(entries.get("sites.json")).get("sites")).hasSize(3);
    for (Map.Entry<String, String> entry : entries.entrySet()) {
      if (entry.getKey().endsWith(".json")) {
        assertThat(mapper.readTree(entry.getValue())).as(entry.getKey()).isNotNull();
      }
    }
  }

  @Test
  void onlyTheValuesOfKnownSettingsAreShown() throws Exception {
    System.setProperty(PROPERTY, "hunter2");
    Map<String, String> settings =
        Map.of(
            "mallometer.poll-interval", "5s",
            "mallometer.leak.acknowledgedSites[0]", "com.shop.Cart.zip",
            "mallometer.push.url", "https://example.org/x?q=hunter2",
            "mallometer.push.auth", "Bearer hunter2",
            "http-server.authentication.basic.username", "hunter2");

    String shown = entries(zip(settings)).get("settings.json");
    assertThat(mapper.readTree(shown).get("mallometer.poll-interval").asText()).isEqualTo("5s");
    assertThat(mapper.readTree(shown).get("mallometer.leak.acknowledgedSites[0]").asText())
        .isEqualTo("com.shop.Cart.zip");
    assertThat(shown).contains(PROPERTY).doesNotContain("hunter2", "java.home");
  }

  @Test
  void theRecordingsOfBothRunsAreInItUnlessTheyAreLarge(@TempDir Path directory) throws Exception {
    Path recording = Files.writeString(directory.resolve("recording"), "this run");
    Path previous = Files.writeString(directory.resolve("recording.previous"), "0x7f0012345678");

    assertThat(entriesWith(recording, previous))
        .containsEntry("recording", "this run")
        .containsEntry("recording.previous", "0x7f0012345678");

    Files.write(previous, new byte[(4 << 20) + 1]);
    assertThat(entriesWith(recording, previous))
        .containsKey("recording")
        .doesNotContainKey("recording.previous");
  }

  private Map<String, String> entriesWith(Path recording, Path previous) throws IOException {
    Instant time = mallometer.clock().instant();
    RecordingStatus status =
        new RecordingStatus(RecordingStatus.State.ON, recording.toString(), 1, "");
    PreviousRun run =
        new PreviousRun(previous.toString(), 1, time, time, PreviousRun.OOM, true, "", "");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    EvidenceBundle.write(
        mallometer, new Views(mallometer), Map.of(), status, Optional.of(run), out);
    return entries(out.toByteArray());
  }

  @Test
  void addressesAreMaskedAndOffsetsStay() throws Exception {
    CallSite known = SitesByHand.site(1, "shop.Report.pack", "libz.so", 1_000);
    mallometer.setSites(
        SitesByHand.reading(
            withFrame(known, StackFrame.ofLibrary("", "", 0x7f00_1234_5678L)),
            withFrame(known, StackFrame.ofLibrary("libq.so", "", 0x1234_5678L))));
    mallometer.poll();

    assertThat(String.join("\n", entries(zip(Map.of())).values()))
        .contains("libq.so+0x12345678", "[unknown]")
        .doesNotContain("7f0012345678");
  }

  private static CallSite withFrame(CallSite site, StackFrame frame) {
    return new CallSite(
        site.number(),
        List.of(frame),
        site.name(),
        site.library(),
        site.samples(),
        site.allocatedObjects(),
        site.allocatedBytes(),
        site.liveObjects(),
        site.liveBytes(),
        site.bytesPerSecond(),
        site.rateSeconds(),
        site.ages());
  }

  @Test
  void onlyTheLargestOfManySitesAreIncluded() throws Exception {
    List<CallSite> many =
        IntStream.range(0, 9_000)
            .mapToObj(i -> SitesByHand.site(i, "shop.Report.pack" + i, "libz.so", 10 * i))
            .toList();
    mallometer.setSites(SitesByHand.reading(mallometer.clock().instant(), many));
    mallometer.poll();
    byte[] zip = zip(Map.of());

    assertThat(zip).hasSizeLessThan(1 << 20);
    assertThat(mapper.readTree(entries(zip).get("sites.json")).get("sites"))
        .hasSize(EvidenceBundle.MOST_SITES);
  }
}
