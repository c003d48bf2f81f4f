package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.internal.history.ExitDiagnosis.Kind;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.PreviousRun;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ends real JVMs in several ways, and reads their recordings. */
@Tag("process")
class RecordingOfARealJvmTest {

  private static final int SIGKILL = 128 + 9;
  private static final int SIGTERM = 128 + 15;

  @TempDir private Path directory;
  private Path recording = Path.of("unset");
  private Path library = Path.of("unset");
  private final List<Process> started = new ArrayList<>();

  @BeforeEach
  void prepare() throws Exception {
    recording = directory.resolve("recording");
    library = BundledLibrary.extract(directory.resolve("library"));
  }

  @AfterEach
  void endAll() throws Exception {
    for (Process process : started) {
      process.destroyForcibly().waitFor();
    }
  }

  /** The library of the second JVM lacks the native methods, so Java calls it through JNA. */
  @Test
  void aKilledJvmIsReadAndTheNextOneTellsAndIsRecordedThroughJna() throws Exception {
    Process killed = start(true, "leak", "200");
    await(life -> life.samples().size() >= 2 && !life.parts().minutes().isEmpty());
    kill(killed);
    RecordedLife life = RecordedLife.read(recording);

    assertThat(life.header().pid()).isEqualTo(killed.pid());
    assertThat(life.last().malloc().liveBytes()).isGreaterThan(4e6);
    assertThat(life.last().residentBytes()).isGreaterThan(20e6);
    assertThat(life.parts().minutes().get(0).text().table("part"))
        .containsKeys("java_heap", "malloc_live");
    assertThat(life.parts().minutes().get(0).text().word("verdict")).isNotEmpty();
    assertThat(life.end().shutdown()).isEmpty();
    assertThat(RecordingReport.of(recording))
        .contains("process    " + killed.pid() + ", java")
        .contains("ended without an exit record")
        .contains("Where the memory was")
        .contains("java_heap");

    String bytes = Files.readString(library, StandardCharsets.ISO_8859_1);
    Files.writeString(
        library,
        bytes.replace("Java_io_mallometer_", "Jova_io_mallometer_"),
        StandardCharsets.ISO_8859_1);
    Process next = start(true, "exit");
    assertThat(next.waitFor()).as(output(next)).isEqualTo(7);
    assertThat(output(next))
        .contains("The previous run (process " + killed.pid() + ", until ")
        .contains("ended without an exit record");
    RecordedLife second = RecordedLife.read(recording);
    assertThat(ExitDiagnosis.of(second, ExitDiagnosisTest.NOTHING_MORE).sentence())
        .startsWith("exited with code 7");
    assertThat(second.jvm()).isPresent();
    assertThat(second.end().shutdown()).isPresent();
    assertThat(second.damage().tornRecords()).isZero();
    assertThat(RecordedLife.read(Path.of(recording + ".previous")).header().pid())
        .isEqualTo(killed.pid());
  }

  /**
   * The first JVM is ended by SIGTERM, which is recorded as an exit with code 143. While it runs,
   * other JVMs do not write to its recording file.
   */
  @Test
  @Tag("any-jdk")
  void anEndByRequestIsAnExit() throws Exception {
    Process first = start(true, "wait");
    await(life -> !life.parts().minutes().isEmpty());
    assertThat(
            ExitDiagnosis.of(
                    RecordedLife.read(recording), PostMortem.of(RecordedLife.read(recording), true))
                .kind())
        .isEqualTo(Kind.RUNNING);
    assertThat(PostMortem.inUse(recording)).isTrue();

    Process second = start(true, "exit");
    assertThat(second.waitFor()).isEqualTo(7);
    assertThat(output(second))
        .contains("recording=FAILED")
        .contains(
            "mallometer: the recording is off: "
                + recording
                + " is in use by process "
                + first.pid());
    Process third = start(false, "exit");
    assertThat(third.waitFor()).isEqualTo(7);
    assertThat(output(third)).contains("recording=FAILED");

    first.destroy();
    assertThat(first.waitFor()).isEqualTo(SIGTERM);
    RecordedLife life = RecordedLife.read(recording);
    assertThat(life.header().pid()).isEqualTo(first.pid());
    assertThat(life.end().shutdown()).isPresent();
    assertThat(life.damage().tornRecords()).isZero();
    assertThat(PostMortem.inUse(recording)).isFalse();
    assertThat(ExitDiagnosis.of(life, ExitDiagnosisTest.NOTHING_MORE).sentence())
        .startsWith("exited with code 143");
  }

  /**
   * The Java threads all hang, including mallometer's poller, but the library records on its own.
   */
  @Test
  void aJvmThatHangsIsRecordedOn() throws Exception {
    Path heartbeat = Files.createFile(directory.resolve("heartbeat"));
    Process hanging = startUnread(heartbeat);
    await(life -> Files.exists(Path.of(heartbeat + ".full")));
    new ProcessBuilder("kill", "-QUIT", String.valueOf(hanging.pid())).start().waitFor();
    await(life -> standsStillBy(heartbeat, life) >= 2);
    kill(hanging);
    RecordedLife life = RecordedLife.read(recording);

    assertThat(standsStillBy(heartbeat, life)).isGreaterThanOrEqualTo(2);
    assertThat(ExitDiagnosis.of(life, ExitDiagnosisTest.NOTHING_MORE).kind())
        .isEqualTo(Kind.WITHOUT_GOODBYE);
  }

  /**
   * Returns the number of samples that were recorded more than half a second after the last
   * heartbeat.
   */
  private static long standsStillBy(Path heartbeat, RecordedLife life) {
    try {
      Instant latest = Files.getLastModifiedTime(heartbeat).toInstant().plusMillis(500);
      return life.samples().stream().filter(sample -> sample.time().isAfter(latest)).count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * The process leaks slowly: about five seconds pass from 85 % of the limit until the kernel kills
   * the process. Mallometer polls in these five seconds.
   */
  @Test
  @Tag("any-jdk")
  void aJvmThatTheKernelKillsForTheLimitIsRecognised() throws Exception {
    MemoryLimit limit = MemoryLimit.of(220L << 20);
    assumeTrue(limit.possible(), limit.reason());
    try {
      Process killed =
          start(true, List.of("-XX:MaxDirectMemorySize=1g"), limit.enter(), "leak", "140");
      assertThat(killed.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(killed.exitValue()).as(output(killed)).isEqualTo(SIGKILL);
      RecordedLife life = RecordedLife.read(recording);
      ExitDiagnosis ending = ExitDiagnosis.of(life, PostMortem.of(life, false));

      assertThat(life.last().cgroup().limitBytes()).isEqualTo(220 << 20);
      assertThat(life.last().cgroup().shareOfLimit()).isGreaterThan(0.85);
      assertThat(ending.reason()).isEqualTo(PreviousRun.OOM);
      assertThat(ending.sentence()).contains("OOM-killed at ", "rose from 0 to 1", "malloc live");
      assertThat(life.parts().exceeded())
          .extracting(text -> text.text().word("threshold-percent").orElse(""))
          .isNotEmpty()
          .isSubsetOf("85", "90", "95");
      assertThat(life.parts().exceeded().get(0).text().table("part").get("direct_buffers"))
          .isGreaterThan(50L << 20);
      assertThat(life.profiles()).containsKey(KeptMoment.PEAK);
      KeptMoment exceeded =
          life.profiles().keySet().stream()
              .filter(moment -> moment != KeptMoment.PEAK)
              .findFirst()
              .orElseThrow();
      assertThat(life.profile(exceeded).sites().get(0).liveBytes().value()).isGreaterThan(50 << 20);
      assertThat(life.profile(exceeded).sites().get(0).frames())
          .anyMatch(frame -> frame.function().contains("allocateDirect"));

      Process next = start(true, List.of(), limit.enter(), "exit");
      assertThat(next.waitFor()).isEqualTo(7);
      assertThat(output(next))
          .containsPattern("The previous run .* was (most likely )?OOM-killed at \\d\\d:");
    } finally {
      limit.remove();
    }
  }

  // ---- Starting, killing and awaiting processes

  private Process start(boolean preloaded, String... arguments) throws IOException {
    return start(preloaded, List.of(), arguments);
  }

  private Process start(boolean preloaded, List<String> options, String... arguments)
      throws IOException {
    return start(preloaded, options, List.of(), arguments);
  }

  /** Starts a process that blocks when it prints, because nobody reads its output. */
  private Process startUnread(Path heartbeat) throws IOException {
    Process process = builder(true, List.of(), List.of(), "hang", heartbeat.toString()).start();
    started.add(process);
    return process;
  }

  private Process start(
      boolean preloaded, List<String> options, List<String> prefix, String... arguments)
      throws IOException {
    Path output = directory.resolve("output-" + started.size());
    Process process =
        builder(preloaded, options, prefix, arguments).redirectOutput(output.toFile()).start();
    started.add(process);
    return process;
  }

  private ProcessBuilder builder(
      boolean preloaded, List<String> options, List<String> prefix, String... arguments) {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=4"));
    command.addAll(options);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), RecordedProgram.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("MALLOMETER_RECORDING", recording.toString());
    builder.environment().remove("LD_PRELOAD");
    if (preloaded) {
      builder.environment().put("LD_PRELOAD", library.toString());
    }
    return builder;
  }

  /**
   * Kills a process and waits until its recording is unlocked. A child process of the library may
   * hold the lock a little longer.
   */
  private void kill(Process process) throws Exception {
    process.destroyForcibly();
    assertThat(process.waitFor()).isEqualTo(SIGKILL);
    try (FileChannel file = FileChannel.open(recording, StandardOpenOption.READ)) {
      file.lock(0, Long.MAX_VALUE, true).release();
    }
  }

  private String output(Process process) throws IOException {
    return Files.readString(directory.resolve("output-" + started.indexOf(process)));
  }

  private void await(Predicate<RecordedLife> enough) throws Exception {
    if (!ChildJvm.await(
        () -> Files.exists(recording) && enough.test(RecordedLife.read(recording)))) {
      throw new AssertionError(
          "not recorded:\n"
              + (Files.exists(recording) ? RecordingReport.of(recording) : "no file\n")
              + output(started.get(started.size() - 1)));
    }
  }
}
