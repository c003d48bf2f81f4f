package io.mallometer.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.SitesByHand;
import io.mallometer.model.CallSite;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeMemoryEventsTest {

  private static final String[] PERIODIC = {
    NativeMemoryEvents.NATIVE_MEMORY, NativeMemoryEvents.CALL_SITE
  };

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());

  @TempDir private Path directory;

  private final List<NativeMemoryEvents> registered = new ArrayList<>();

  private void register() {
    registered.add(NativeMemoryEvents.register(mallometer));
  }

  @AfterEach
  void close() {
    registered.forEach(NativeMemoryEvents::close);
    mallometer.close();
  }

  @Test
  @Tag("process")
  void aRecordingHasTheSnapshotAndTwentyCallSitesWhichJfrPrintShows() throws Exception {
    List<CallSite> sites = new ArrayList<>(SitesByHand.three().sites());
    for (int i = 10; i < 37; i++) {
      sites.add(SitesByHand.site(i, "a.B.m" + i, "x", 1_000 - i));
    }
    mallometer.setSites(SitesByHand.reading(sites.toArray(CallSite[]::new)));
    register();
    Path file = record(Map.of());
    Map<Integer, Long> byRank =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().equals(PERIODIC[1]))
            .collect(Collectors.groupingBy(event -> event.getInt("rank"), Collectors.counting()));

    assertThat(byRank).hasSize(20).containsKeys(1, 20);
    assertThat(print(file))
        .contains("io.mallometer.NativeMemory {")
        .contains("state = \"ACTIVE\"")
        .contains("liveObjects = 10")
        .contains("allocations = 22")
        .contains("limitBytes = N/A")
        .contains("io.mallometer.CallSite {")
        .contains("rank = 1")
        .contains("site = \"com.shop.Cart.zip\"")
        .contains("library = \"librocksdbjni.so\"")
        .contains("liveObjects = 30000")
        .contains("libzip.so!allocate+0x1f")
        .contains("com.shop.Cart.zip(Some.java:12)");
  }

  @Test
  void theRecordingsSettingsDecide() throws Exception {
    mallometer.setSites(SitesByHand.three());
    register();
    Path file = record(Map.of(NativeMemoryEvents.CALL_SITE + "#enabled", "false"));

    assertThat(RecordingFile.readAllEvents(file))
        .extracting(event -> event.getEventType().getName())
        .contains(PERIODIC[0])
        .doesNotContain(PERIODIC[1]);
  }

  @Test
  void afterClosingNothingIsRecorded() throws Exception {
    NativeMemoryEvents events = NativeMemoryEvents.register(mallometer);
    events.close();
    events.close();

    assertThat(RecordingFile.readAllEvents(record(Map.of())))
        .extracting(RecordedEvent::getEventType)
        .noneMatch(type -> type.getName().startsWith("io.mallometer."));
  }

  @Test
  @Tag("process")
  void aRuntimeWithoutFlightRecorderDoesNotMind() {
    ChildJvm.Result result =
        new ChildJvm()
            .options("--limit-modules", "java.base,java.logging,java.management,jdk.unsupported")
            .run(WithoutRecorder.class);

    assertThat(result.output()).isEqualTo("registered and closed\n");
    assertThat(result.exitCode()).isZero();
  }

  static final class WithoutRecorder {

    public static void main(String[] arguments) {
      try (Mallometer mallometer = Mallometer.open()) {
        NativeMemoryEvents.register(mallometer).close();
        System.out.println("registered and closed");
      }
    }
  }

  /** Records for a second. Periodic events come at least at the end of a recording's chunk. */
  private Path record(Map<String, String> settings) throws Exception {
    Path file = directory.resolve("recording.jfr");
    try (Recording recording = new Recording()) {
      for (String event : PERIODIC) {
        recording.enable(event).withPeriod(Duration.ofMillis(100));
      }
      Map<String, String> all = new HashMap<>(recording.getSettings());
      all.putAll(settings);
      recording.setSettings(all);
      recording.start();
      Thread.sleep(1_000);
      recording.stop();
      recording.dump(file);
    }
    return file;
  }

  private static String print(Path file) throws Exception {
    Process jfr =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jfr").toString(),
                "print",
                "--events",
                "io.mallometer.*",
                file.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(jfr.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(jfr.waitFor()).as(output).isZero();
    return output;
  }
}
