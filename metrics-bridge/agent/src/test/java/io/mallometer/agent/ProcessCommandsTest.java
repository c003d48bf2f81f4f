package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.program.DeflaterLeak;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs commands on JVMs that were not prepared for them. Most tests share one application, which
 * the last test ends.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("process")
class ProcessCommandsTest {

  private static final String JAR = System.getProperty("agent.jar");
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();
  private static final int NOBODY = 65_534;

  @TempDir private static Path directory;

  private static Process application;
  private static Path temporary;

  private record Result(int exitCode, String out, String err) {}

  @BeforeAll
  static void start() throws IOException {
    temporary = Files.createDirectory(directory.resolve("tmp"));
    application = application(DeflaterLeak.class, System.getProperty("library"));
  }

  @AfterAll
  static void stop() throws InterruptedException {
    application.destroyForcibly().waitFor();
  }

  private static Process application(Class<?> main, String preload, String... options)
      throws IOException {
    return application(main, Map.of("LD_PRELOAD", preload), options);
  }

  private static Process application(
      Class<?> main, Map<String, String> variables, String... options) throws IOException {
    return application(Path.of(System.getProperty("java.home")), main, variables, options);
  }

  private static Process application(
      Path jdk, Class<?> main, Map<String, String> variables, String... options)
      throws IOException {
    String java = jdk.resolve("bin/java").toString();
    List<String> command =
        with(
            List.of(java, "-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+EnableDynamicAgentLoading"),
            options);
    String classes = Path.of("target/test-classes").toAbsolutePath().toString();
    ProcessBuilder builder = new ProcessBuilder(with(command, "-cp", classes, main.getName()));
    builder.environment().putAll(variables);
    builder.redirectError(new File("/dev/null"));
    Process started = builder.start();
    BufferedReader output = started.inputReader(StandardCharsets.UTF_8);
    assertThat(output.readLine()).isEqualTo("runs");
    return started;
  }

  private static String pid() {
    return Long.toString(application.pid());
  }

  @Test
  @Order(1)
  void aReportNamesWhoAllocatedAndLeavesNothingBehind() throws Exception {
    Result report = call("report", pid(), "--duration", "1s");

    assertThat(report).extracting(Result::exitCode, Result::err).containsExactly(0, "");
    assertThat(report.out())
        .contains("ACTIVE", "Resident ", "java_heap", "malloc_live", "Allocator glibc")
        .contains("DeflaterLeak.main")
        .containsPattern("Watched for \\d+ s: growth is shown over at least 60 s")
        .contains("\nToo early to tell: ")
        .doesNotContain("healthy");
    assertThat(left()).isEmpty();
    assertThat(threads()).doesNotContain("mallometer-poll");
  }

  @Test
  @Tag("any-jdk")
  @Order(2)
  void twoReportsAreCompared() throws Exception {
    Path before = directory.resolve("before.json");
    Path after = directory.resolve("after.json");
    assertThat(call("report", pid(), "--format", "json", "-o", before.toString()).exitCode())
        .isZero();
    // Sites are read again only if the latest reading is at least 1 s old.
    Thread.sleep(1_100);
    assertThat(call("report", pid(), "--format", "json", "-o", after.toString()).exitCode())
        .isZero();
    Result diff = call("diff", before.toString(), after.toString());

    assertThat(diff.exitCode()).isZero();
    assertThat(diff.out()).containsPattern("\\+[0-9.]+ [KM]iB .* io\\.mallometer.*DeflaterLeak");
    Path text = Files.writeString(directory.resolve("text"), "the grocery list");
    refuses(3, text + " is not a report; ", "diff", before.toString(), text.toString());
  }

  @Test
  @Tag("any-jdk")
  @Order(3)
  void theOtherFormatsAndTrimWorkToo() throws Exception {
    assertThat(call("report", pid(), "--format", "collapsed").out()).contains("DeflaterLeak.main;");
    assertThat(call("report", pid(), "--format", "html").out())
        .startsWith("<!DOCTYPE html>")
        .contains("default-src 'none'", "DeflaterLeak.main");
    Result trim = call("trim", pid());
    assertThat(trim.exitCode()).isZero();
    assertThat(trim.out()).contains("resident ", " before, ");
  }

  @Test
  @Tag("any-jdk")
  @Order(3)
  void theEvidenceIsSavedUnderTheProcessIdAndTheTime() throws Exception {
    Result saved = finish(builder("bundle", pid()).directory(directory.toFile()));

    assertThat(saved).extracting(Result::exitCode, Result::err).containsExactly(0, "");
    assertThat(saved.out()).matches("mallometer-" + pid() + "-\\d{8}-\\d{6}\\.zip\n");
    try (ZipFile zip = new ZipFile(directory.resolve(saved.out().strip()).toFile())) {
      assertThat(zip.stream().map(ZipEntry::getName))
          .contains("report.txt", "sites.json", "breakdown.json", "settings.json");
      assertThat(new String(zip.getInputStream(zip.getEntry("sites.json")).readAllBytes()))
          .contains("DeflaterLeak.main");
    }
    Path named = directory.resolve("evidence.zip");
    assertThat(call("bundle", pid(), "-o", named.toString()).out()).isEqualTo(named + "\n");
    assertThat(named).isNotEmptyFile();
  }

  @Test
  @Tag("any-jdk")
  @Order(4)
  void leaksAreShownWithTheirVerdict() throws Exception {
    // Loading the agent uses up the CPU time that sampling may take. The command is repeated until
    // the leak is sampled.
    Result leaks = call("leaks", pid(), "--all", "--duration", "3s");
    for (int i = 0; i < 10 && !leaks.out().contains("DeflaterLeak.main"); i++) {
      leaks = call("leaks", pid(), "--all", "--duration", "3s");
    }

    assertThat(leaks).extracting(Result::exitCode, Result::err).containsExactly(0, "");
    assertThat(leaks.out())
        .containsPattern("(healthy|growing|pool|leak) +.*DeflaterLeak\\.main")
        .containsPattern(
            "was started without the agent and is observed only during this command, so far")
        .contains("Watch for longer with --duration 10m", "-javaagent:mallometer-agent.jar");
  }

  @Test
  @Tag("any-jdk")
  @Order(4)
  void topPrintsLinesWhereThereIsNoTerminal() throws Exception {
    Result top = call("top", pid(), "--count", "2", "--interval", "200ms");

    assertThat(top.exitCode()).isZero();
    assertThat(top.out().lines()).hasSize(2).allMatch(line -> line.contains("malloc_live"));
  }

  @Test
  @Order(5)
  void theDoctorFindsNothingWrong() throws Exception {
    Result doctor = call("doctor", pid());

    assertThat(doctor.exitCode()).as(doctor.out() + doctor.err()).isZero();
    assertThat(doctor.out())
        .contains("ok   preload", "ok   counting", "note diagnosis      Too early to tell: ")
        .doesNotContain("BAD");
    Result machine = call("doctor");
    String mappings = Files.newBufferedReader(Path.of("/proc/sys/vm/max_map_count")).readLine();
    assertThat(machine.out().replace(",", "")).contains("vm.max_map_count is " + mappings);
  }

  @Test
  @Tag("any-jdk")
  @Order(6)
  void aFullDiskIsOneLineAndAClosedPipeIsSilent() throws Exception {
    Result full = finish(builder("report", pid()).redirectOutput(new File("/dev/full")));
    assertThat(full.exitCode()).isEqualTo(1);
    assertThat(full.err()).contains("No space left on device").hasLineCount(1);

    Result closed =
        finish(
            new ProcessBuilder(
                "bash",
                "-c",
                "'%s' %s -jar '%s' report %s --format collapsed | true; exit ${PIPESTATUS[0]}"
                    .formatted(JAVA, String.join(" ", CommandLineTest.QUICK), JAR, pid())));
    assertThat(closed).extracting(Result::exitCode, Result::err).containsExactly(141, "");
  }

  @Test
  @Tag("any-jdk")
  @Order(7)
  void anUnreadableProcessIsReportedInOneLineWithTheRemedy() throws Exception {
    String self = Long.toString(ProcessHandle.current().pid());
    refuses(4, "there is no process 99999999", "report", "99999999");
    Process cat = new ProcessBuilder("cat").start();
    refuses(4, "is not a JVM", "report", Long.toString(cat.pid()));
    cat.destroyForcibly().waitFor();
    refuses(4, "is not there", "report", "http://127.0.0.1:1");
    refuses(64, "--format is 'pdf'", "report", self, "--format", "pdf");
  }

  @Test
  @Tag("any-jdk")
  @Order(7)
  void whereNoQuestionCanBeWrittenIsOneLineWithTheRemedy() throws Exception {
    ProcessBuilder builder = builder("report", pid());
    builder.command().replaceAll(word -> word.contains("tmpdir") ? "-Djava.io.tmpdir=/proc" : word);
    Result refused = finish(builder);

    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err())
        .contains(
            "cannot write the question to /proc", "the address of its agent," + " http://HOST:PORT")
        .hasLineCount(1);
  }

  @Test
  @Tag("any-jdk")
  @Order(8)
  void anotherUsersProcessIsRefused() throws Exception {
    assumeTrue(ProcessHandle.current().info().user().orElse("").equals("root"));
    List<String> command =
        new ArrayList<>(
            List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
    // The jar may be in a directory that only root can read.
    Path jar = Files.copy(Path.of(JAR), Path.of("/tmp", "mallometer-test-" + pid() + ".jar"));
    try {
      command.add(JAVA);
      command.addAll(CommandLineTest.QUICK);
      command.addAll(List.of("-jar", jar.toString(), "report", pid()));
      Result refused = finish(new ProcessBuilder(command));

      assertThat(refused.exitCode()).isEqualTo(5);
      assertThat(refused.err()).contains("belongs to user root").hasLineCount(1);
    } finally {
      Files.delete(jar);
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(9)
  void aStoppedProcessIsNotWaitedFor() throws Exception {
    signal("STOP");
    try {
      refuses(6, "kill -CONT", "report", pid());
    } finally {
      signal("CONT");
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(10)
  void aProcessThatStopsInTheMiddleIsGivenUpInTime() throws Exception {
    Process report = builder("report", pid(), "--duration", "1s", "--timeout", "1s").start();
    awaitQuestion();
    Thread.sleep(500);
    signal("STOP");
    try {
      assertThat(report.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(report.exitValue()).isEqualTo(6);
      assertThat(errors(report)).contains("is stopped; kill -CONT").hasLineCount(1);
    } finally {
      report.destroyForcibly();
      signal("CONT");
    }
  }

  /** The application answers later than the 10.5 s that the JDK waits by default. */
  @Test
  @Tag("any-jdk")
  @Order(10)
  void aProcessThatIsLateIsWaitedFor() throws Exception {
    Process late = application(DeflaterLeak.class, "");
    Process report = builder("report", "" + late.pid()).start();
    try {
      awaitQuestion();
      signal("STOP", late);
      Thread.sleep(12_000);
      signal("CONT", late);

      assertThat(report.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(errors(report)).isEmpty();
      assertThat(report.exitValue()).isZero();
    } finally {
      report.destroyForcibly();
      late.destroyForcibly().waitFor();
    }
  }

  /**
   * The command gives up while the JDK still waits for the attach. So the command itself must
   * remove the JDK's file {@code .attach_pid}.
   */
  @Test
  @Tag("any-jdk")
  @Order(10)
  void aProcessThatStopsBeforeItListensIsGivenUpInTime() throws Exception {
    Process silent = application(DeflaterLeak.class, "");
    Process report = builder("report", "" + silent.pid(), "--timeout", "2s").start();
    try {
      awaitQuestion();
      signal("STOP", silent);

      assertThat(report.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(errors(report)).contains("is stopped; kill -CONT").hasLineCount(1);
      assertThat(left()).isEmpty();
      assertThat(Path.of(".attach_pid" + silent.pid())).doesNotExist();
    } finally {
      report.destroyForcibly();
      silent.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(10)
  void aProcessThatDoesNotAnswerInTimeMayBeBusy() throws Exception {
    refuses(
        6,
        "did not answer within 0.001 s: it hangs or is very busy; wait longer with --timeout",
        "report",
        pid(),
        "--timeout",
        "1ms");
  }

  @Test
  @Tag("any-jdk")
  @Order(11)
  void aTerminalShowsTopAndProgressAndIsGivenBack() throws Exception {
    assumeTrue(
        "true".equals(System.getenv("REQUIRE_TMUX"))
            || Files.isExecutable(Path.of("/usr/bin/tmux")));
    Path ended = directory.resolve("ended");
    String socket = "mallometer-" + pid();
    String top = "top " + pid() + " --interval 500ms";
    tmux(
        socket,
        "-f",
        "/dev/null",
        "new-session",
        "-d",
        "-x",
        "90",
        "-y",
        "24",
        inShell(top, ended));
    try {
      awaitScreen(socket, "DeflaterLeak.main");
      // The screen is complete when its last line, which contains "q ends", appears.
      String screen = awaitScreen(socket, "q ends");
      assertThat(screen).contains("ACTIVE", "DeflaterLeak.main", "java_heap", "call site");
      tmux(socket, "send-keys", "g");
      awaitScreen(socket, "sort by growth");
      tmux(socket, "resize-window", "-x", "50", "-y", "12");
      assertThat(awaitScreen(socket, "call site").lines())
          .allMatch(line -> line.length() <= 50)
          .hasSizeLessThanOrEqualTo(12);
      interrupt(socket, ended);
      assertThat(tmux(socket, "capture-pane", "-p")).doesNotContain("q ends");

      Files.delete(ended);
      tmux(socket, "respawn-pane", "-k", inShell("report " + pid() + " --duration 30s", ended));
      assertThat(awaitScreen(socket, "[#")).containsPattern("watching process \\d+ \\[#+\\.+");
      interrupt(socket, ended);
    } finally {
      tmux(socket, "kill-server");
    }
  }

  private static String inShell(String words, Path ended) {
    return "'%s' %s -Djava.io.tmpdir='%s' -jar '%s' %s; echo $? > %s; sleep 100"
        .formatted(JAVA, String.join(" ", CommandLineTest.QUICK), temporary, JAR, words, ended);
  }

  private static void interrupt(String socket, Path ended) throws Exception {
    tmux(socket, "send-keys", "C-c");
    ChildJvm.await(() -> Files.exists(ended) && Files.size(ended) > 0);
    assertThat(ended).hasContent("130");
    assertThat(left()).isEmpty();
  }

  @Test
  @Order(12)
  void aJvmWithoutThePreloadIsToldWhatToDo() throws Exception {
    Process plain = application(DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "on"));
    try {
      String plainPid = Long.toString(plain.pid());
      Result report = call("report", plainPid);
      assertThat(report.exitCode()).isZero();
      assertThat(report.out())
          .contains(
              "UNAVAILABLE: the library is not preloaded", "to count from the start: LD_PRELOAD=")
          .contains("java_heap");
      refuses(7, "no allocator", "trim", plainPid);
      String offer = "not counted; `java -jar %s attach %s` starts now".formatted(JAR, plainPid);
      refuses(7, offer, "leaks", plainPid);
      assertThat(report.out()).contains(offer);
      Result doctor = call("doctor", plainPid);
      assertThat(doctor.exitCode()).isEqualTo(1);
      assertThat(doctor.out()).contains("BAD  counting", offer);
      assertThat(call("top", plainPid, "--count", "1").err()).contains(offer).hasLineCount(1);
      refuses(7, "nothing to detach: native memory is not counted", "detach", plainPid);
    } finally {
      plain.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(12)
  void aPhaseLastsFromOneCommandToTheNext() throws Exception {
    assertThat(call("phase", pid(), "--begin", "first half").out())
        .isEqualTo("no phase had begun\nphase first half begins\n");
    assertThat(call("phase", pid(), "--begin", "second").out())
        .containsPattern(
            "^phase first half, \\d+\\.\\d s: [\\d,]*[1-9][\\d,]* allocations of \\S+ [KMG]iB"
                + " requested, [\\d,]+ frees, .+ live, peak .+ above the value at the beginning\n"
                + "phase second begins\n$");
    assertThat(call("phase", pid()).out()).startsWith("phase second, ");
    assertThat(call("phase", pid()).out()).isEqualTo("no phase had begun\n");
  }

  @Test
  @Tag("any-jdk")
  @Order(12)
  void aJvmIsAttachedToAndDetached() throws Exception {
    Process plain = application(DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "on"));
    try {
      String plainPid = "" + plain.pid();
      assertThat(attach(plain)).endsWith("next: java -jar " + JAR + " top " + plainPid + "\n");
      assertThat(call("doctor", plainPid).out())
          .contains("ok   attached", "ok   counting")
          .containsPattern(
              "attachment +\\d+ pointers to malloc lead to mallometer, 0 could not be changed;"
                  + " calls not seen: 0; (glibc's own figure differs by \\S+ [KM]?i?B, up"
                  + " to \\S+ (?:[KM]i)?B is normal|the difference from glibc's own figure is"
                  + " not known); the attach blocked the loading of libraries for"
                  + " \\d+\\.\\d ms\n");
      assertThat(call("leaks", plainPid).out())
          .containsPattern("(?m)^attached since \\S+Z: objects from before are not judged; ")
          .doesNotContain("only during this command");
      assertThat(call("attach", plainPid).out()).contains("(attached; ");

      detach(plain);
      refuses(7, "nothing to detach", "detach", plainPid);
      assertThat(call("attach", plainPid).out()).contains("(attached; ");
    } finally {
      plain.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(12)
  void aJvmOfEachJdkIsAttachedToAndDetached() throws Exception {
    for (Path jdk : ChildJvm.jdksSince(17)) {
      Process plain = application(jdk, DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "on"));
      try {
        attach(plain);
        assertThat(call("report", "" + plain.pid()).out())
            .contains("ACTIVE: attached", "malloc live ", "DeflaterLeak.main")
            .containsPattern("\n  \\S+ MiB ± .* were allocated before the attach\n")
            .containsPattern("\n +live +resident +per second +over  call site\n")
            .doesNotContain("NaN", "in - objects");
        detach(plain);
      } finally {
        plain.destroyForcibly().waitFor();
      }
    }
  }

  private static String attach(Process plain) throws Exception {
    Result attach = call("attach", "" + plain.pid());
    assertThat(attach).extracting(Result::exitCode, Result::err).containsExactly(0, "");
    assertThat(attach.out())
        .containsPattern(
            "^process \\d+ counts native memory since \\S+ \\S+ UTC \\(attached; glibc \\S+\\);"
                + " \\S+ MiB ± \\S+ ([KM]i)?B were allocated before the attach\n");
    assertThat(threads(plain)).contains("mallometer-poll");
    return attach.out();
  }

  private static void detach(Process plain) throws Exception {
    Result detach = call("detach", "" + plain.pid());
    assertThat(detach.exitCode()).as(detach.err()).isZero();
    assertThat(detach.out()).contains("is detached; it counted native memory since ");
    assertThat(threads(plain)).doesNotContain("mallometer-poll");
  }

  @Test
  @Tag("any-jdk")
  @Order(12)
  void anAttachThatIsForbiddenOrNotNeededChangesNothing() throws Exception {
    assertThat(call("attach", pid()).out())
        .containsPattern("counts native memory \\(glibc \\S+\\), from its start on");
    refuses(7, "a preloaded library cannot be detached", "detach", pid());
    Process off = application(DeflaterLeak.class, Map.of("MALLOMETER_ATTACH", "off"));
    try {
      assertThat(call("report", "" + off.pid()).out())
          .contains(
              "what to do: MALLOMETER_ATTACH=off forbids attaching; to count from the start:"
                  + " LD_PRELOAD=")
          .doesNotContain("starts now");
      refuses(
          7,
          "does not count: the library is not preloaded; MALLOMETER_ATTACH=off forbids attaching;",
          "leaks",
          "" + off.pid());
      refuses(
          7,
          "MALLOMETER_ATTACH=off; Start without MALLOMETER_ATTACH=off",
          "attach",
          "" + off.pid());
      assertThat(call("doctor", "" + off.pid()).out())
          .contains("its environment forbids attaching the library: MALLOMETER_ATTACH=off")
          .doesNotContain("starts now");
    } finally {
      off.destroyForcibly().waitFor();
    }
  }

  /**
   * The application's own {@code Mallometer} object is in another class loader than the agent. It
   * must notice the attach at its next poll.
   */
  @Test
  @Order(12)
  void theApplicationsOwnBridgeSeesTheAttach() throws Exception {
    List<String> command =
        List.of(
            JAVA,
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+EnableDynamicAgentLoading",
            "-cp",
            System.getProperty("java.class.path"),
            HasItsOwnBridge.class.getName());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("MALLOMETER_ATTACH", "on");
    Process process = builder.redirectError(new File("/dev/null")).start();
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).isEqualTo("UNAVAILABLE the library is not preloaded");
      assertThat(call("attach", "" + process.pid()).exitCode()).isZero();
      assertThat(output.readLine()).isEqualTo("ACTIVE attached");
      assertThat(call("detach", "" + process.pid()).exitCode()).isZero();
      assertThat(output.readLine()).startsWith("UNAVAILABLE detached");
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /**
   * Commands are answered by the application's own Mallometer object, because it has observed the
   * process for longer.
   */
  @Test
  @Tag("any-jdk")
  @Order(12)
  void theApplicationsOwnBridgeAnswersCommands() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            JAVA,
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+EnableDynamicAgentLoading",
            "-cp",
            System.getProperty("java.class.path"),
            HasItsOwnBridge.class.getName());
    builder.environment().put("LD_PRELOAD", System.getProperty("library"));
    Process process = builder.redirectError(new File("/dev/null")).start();
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).startsWith("ACTIVE");
      Thread.sleep(1_000);
      Result report = call("report", "" + process.pid());

      assertThat(report).extracting(Result::exitCode, Result::err).containsExactly(0, "");
      assertThat(report.out())
          .contains("ACTIVE: preloaded", "Resident ", "malloc live ")
          .containsPattern("\nToo early to tell: .*the application is starting");
      assertThat(call("report", "" + process.pid(), "--format", "collapsed").out())
          .contains("libjvm.so!");
      assertThat(call("leaks", "" + process.pid()).out())
          .doesNotContain("only during this command", "oo early");
      assertThat(threads(process)).containsOnlyOnce("mallometer-poll");
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(12)
  void aFacadeThatTheApplicationClosedStaysClosed() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            JAVA,
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+EnableDynamicAgentLoading",
            "-cp",
            System.getProperty("java.class.path"),
            HasItsOwnBridge.class.getName(),
            "closed");
    builder.environment().put("LD_PRELOAD", System.getProperty("library"));
    Process process = builder.redirectError(new File("/dev/null")).start();
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).isEqualTo("closed");
      assertThat(call("leaks", "" + process.pid()).out()).contains("only during this command");
      assertThat(output.ready()).isFalse();
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /** The variable MALLOMETER_ENABLED also applies to an agent that a command loads later. */
  @Test
  @Tag("any-jdk")
  @Order(12)
  void whereItIsSwitchedOffAnAttachIsRefusedInTheSameWords() throws Exception {
    Process off =
        application(
            DeflaterLeak.class,
            Map.of("LD_PRELOAD", System.getProperty("library"), "MALLOMETER_ENABLED", "off"));
    try {
      String reason =
          "mallometer: not started: MALLOMETER_ENABLED=off. Start the application without this"
              + " variable to use mallometer\n";
      for (String command : List.of("top", "report", "leaks", "trim", "doctor")) {
        refuses(7, reason, command, "" + off.pid());
      }
    } finally {
      off.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(13)
  void aProcessThatEndsInTheMiddleIsSaidToHaveEnded() throws Exception {
    Process report = builder("report", pid(), "--duration", "1s").start();
    awaitQuestion();
    Thread.sleep(300);
    application.destroyForcibly().waitFor();

    assertThat(report.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(report.exitValue()).isEqualTo(4);
    assertThat(errors(report)).endsWith("ended during the command\n").hasLineCount(1);
    assertThat(left()).isEmpty();
  }

  @Test
  @Order(14)
  void aJavaWithoutAttachSaysWhatToUseInstead() throws Exception {
    Process plain = application(DeflaterLeak.class, "");
    try {
      List<String> command = new ArrayList<>(builder("report", "" + plain.pid()).command());
      command.addAll(1, List.of("--limit-modules", "java.base,java.logging,java.management"));
      Result refused = finish(new ProcessBuilder(command));

      assertThat(refused.exitCode()).isEqualTo(7);
      assertThat(refused.err())
          .contains(
              "no module jdk.attach; run the command with a JDK, or name the http address"
                  + " of an agent or a recording")
          .hasLineCount(1);
    } finally {
      plain.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(15)
  void anAgentOfAnotherVersionIsNamed() throws Exception {
    Path other = directory.resolve("other.jar");
    copyAsVersion("0.0.7", other);
    Process older = application(DeflaterLeak.class, "", "-javaagent:" + other);
    try {
      refuses(7, "has the agent of version 0.0.7, and this is ", "report", "" + older.pid());
      refuses(7, "has the agent of version 0.0.7, and this is ", "attach", "" + older.pid());
    } finally {
      older.destroyForcibly().waitFor();
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(15)
  void aLibraryOfAnotherVersionIsRefused() throws Exception {
    Path source =
        Files.writeString(
            directory.resolve("other.c"),
            """
            #include "mallometer.h"
            uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION + 1; }
            """);
    Path library = directory.resolve("libmallometer.so");
    Result compiled =
        finish(
            new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-I../../interposer/include",
                "-o",
                library.toString(),
                source.toString()));
    assertThat(compiled.exitCode()).as(compiled.err()).isZero();
    Process counted = application(DeflaterLeak.class, library.toString());
    try {
      refuses(7, ", but this bridge needs version ", "attach", "" + counted.pid());
    } finally {
      counted.destroyForcibly().waitFor();
    }
  }

  /**
   * The JVM runs in its own mount and process namespaces, as in a container, and has its own /tmp.
   */
  @Test
  @Tag("any-jdk")
  @Order(16)
  void aJvmThatSeesOtherFilesAndProcessesIsAsked() throws Exception {
    List<String> unshare = List.of("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--");
    assumeTrue(finish(new ProcessBuilder(with(unshare, "true"))).exitCode() == 0, "no unshare");
    Path here = Path.of("/var/tmp", "mallometer-test-" + pid());
    Files.createDirectory(here);
    String shell =
        "cp -r '%1$s'/. '%2$s' && mount -t tmpfs tmpfs /tmp"
                .formatted(Path.of("target/test-classes").toAbsolutePath(), here)
            + " && export MALLOMETER_ATTACH=on XDG_CACHE_HOME=/tmp/cache-inside"
            + " && exec '%s' -Xmx64m -XX:TieredStopAtLevel=1 -XX:+EnableDynamicAgentLoading -cp '%s' %s"
                .formatted(JAVA, here, DeflaterLeak.class.getName());
    Process outer = new ProcessBuilder(with(unshare, "sh", "-c", shell)).start();
    try {
      assertThat(outer.inputReader().readLine()).isEqualTo("runs");
      ProcessHandle inner = outer.children().findFirst().orElseThrow();
      Result attach = call("attach", "" + inner.pid());
      assertThat(attach.out()).as(attach.err()).contains("(attached; glibc ");
      Result report = call("report", "" + inner.pid());

      assertThat(report.exitCode()).as(report.err()).isZero();
      assertThat(report.out()).contains("ACTIVE: attached");
      assertThat(mapped(inner)).contains("/cache-inside/").doesNotContain(directory.toString());
      assertThat(report.out()).contains("process " + inner.pid(), "java_heap");
      Path temporaryInside = Path.of("/proc", "" + inner.pid(), "root/tmp");
      try (Stream<Path> files = Files.list(temporaryInside)) {
        assertThat(files).noneMatch(file -> file.getFileName().toString().startsWith("mallometer"));
      }
    } finally {
      outer.descendants().forEach(ProcessHandle::destroyForcibly);
      outer.destroyForcibly().waitFor();
      try (Stream<Path> files = Files.walk(here)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(17)
  void aJvmWithATmpOfItsOwnIsAskedWithoutAThreadDump() throws Exception {
    List<String> unshare = List.of("unshare", "--mount", "--");
    assumeTrue(finish(new ProcessBuilder(with(unshare, "true"))).exitCode() == 0, "no unshare");
    // The JDK's attach creates a file in the working directory of the JVM, which is impossible in
    // /proc.
    for (String place : List.of("/", "/proc")) {
      Path log = directory.resolve("log");
      String shell =
          "mount -t tmpfs tmpfs /tmp && cd %s && exec '%s' -Xmx64m -XX:TieredStopAtLevel=1 -XX:+EnableDynamicAgentLoading -cp '%s' %s"
              .formatted(
                  place,
                  JAVA,
                  Path.of("target/test-classes").toAbsolutePath(),
                  DeflaterLeak.class.getName());
      withCommand(
          with(unshare, "sh", "-c", shell),
          log,
          service -> {
            Result report = call("report", "" + service.pid(), "--timeout", "20s");

            assertThat(report.exitCode()).as(report.err()).isZero();
            assertThat(report.out()).contains("process " + service.pid(), "java_heap");
            // The JVM has listened since the first command, so its socket exists already.
            Result again = call("report", "" + service.pid(), "--timeout", "20s");
            assertThat(again.exitCode()).as(again.err()).isZero();
            assertThat(Path.of("/tmp/.java_pid" + service.pid())).doesNotExist();
            Path theirs = Path.of("/proc/" + service.pid(), "root/tmp/.attach_pid" + service.pid());
            assertThat(theirs).doesNotExist();
          });
      assertThat(log).content().doesNotContain("thread dump");
    }
  }

  @Test
  @Tag("any-jdk")
  @Order(17)
  void aJvmInAUserNamespaceWithoutUsIsRefusedWithoutASignal() throws Exception {
    List<String> unshare =
        List.of(
            "setpriv",
            "--reuid=" + NOBODY,
            "--regid=" + NOBODY,
            "--clear-groups",
            "unshare",
            "--user",
            "--map-root-user",
            "--");
    assumeTrue(finish(new ProcessBuilder(with(unshare, "true"))).exitCode() == 0, "no unshare");
    Path log = directory.resolve("log");
    // The JVM's user must be able to read the classes.
    Path here = Files.createTempDirectory(Path.of("/var/tmp"), "mallometer-test-");
    try {
      Files.setPosixFilePermissions(here, PosixFilePermissions.fromString("rwxr-xr-x"));
      Path classes = Path.of("target/test-classes");
      String name = DeflaterLeak.class.getName();
      try (Stream<Path> files = Files.list(classes.resolve("io/mallometer/program"))) {
        Path target = Files.createDirectories(here.resolve("io/mallometer/program"));
        for (Path file : files.toList()) {
          Files.copy(file, target.resolve(file.getFileName()));
        }
      }
      withCommand(
          with(unshare, JAVA, "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", here.toString(), name),
          log,
          stranger ->
              refuses(
                  5,
                  "runs in a user namespace to which user 0 does not belong; run the command as user ",
                  "report",
                  "" + stranger.pid(),
                  "--timeout",
                  "3s"));
      assertThat(log).content().doesNotContain("thread dump");
    } finally {
      try (Stream<Path> files = Files.walk(here)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  /**
   * The JDK repeats SIGQUIT until the JVM listens. This JVM never listens, and prints a thread dump
   * for each signal.
   */
  @Test
  @Tag("any-jdk")
  @Order(17)
  void aJvmThatNeverListensGetsTheSignalOnce() throws Exception {
    Path log = directory.resolve("log");
    List<String> deaf =
        List.of(
            JAVA,
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+DisableAttachMechanism",
            "-XX:-UsePerfData",
            "-cp",
            Path.of("target/test-classes").toAbsolutePath().toString(),
            DeflaterLeak.class.getName());
    withCommand(
        deaf,
        log,
        process -> {
          // A killed JVM with this process id may have left a socket file, which the JDK would take
          // for this JVM's socket.
          Files.deleteIfExists(Path.of("/tmp/.java_pid" + process.pid()));
          refuses(6, "did not answer within 3 s", "report", "" + process.pid(), "--timeout", "3s");
          assertThat(Path.of("/proc/" + process.pid(), "cwd/.attach_pid" + process.pid()))
              .doesNotExist();
        });
    assertThat(Files.readString(log).split("Full thread dump", -1)).hasSize(2);
  }

  @Test
  @Order(17)
  void aJvmWithoutTheAttachMechanismIsRefused() throws Exception {
    List<String> closed =
        List.of(
            JAVA,
            "-Xmx64m",
            "-XX:+DisableAttachMechanism",
            "-cp",
            Path.of("target/test-classes").toAbsolutePath().toString(),
            DeflaterLeak.class.getName());
    withCommand(
        closed,
        directory.resolve("log"),
        process -> refuses(7, "cannot be attached to", "attach", "" + process.pid()));
  }

  /**
   * The JVM forbids that an agent is loaded while it runs. Commands must use the agent that was
   * loaded at the start.
   */
  @Test
  @Order(17)
  void aJvmThatWasStartedWithTheAgentNeedNotLoadItAgain() throws Exception {
    Path log = directory.resolve("log");
    List<String> started =
        List.of(
            JAVA,
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "-XX:-EnableDynamicAgentLoading",
            "-javaagent:" + JAR,
            "-cp",
            Path.of("target/test-classes").toAbsolutePath().toString(),
            DeflaterLeak.class.getName());
    withCommand(
        started,
        log,
        process -> {
          String pid = "" + process.pid();
          assertThat(ChildJvm.await(() -> Files.readString(log).contains("counts native memory")))
              .isTrue();
          assertThat(
                  ChildJvm.await(() -> Files.exists(Path.of("/tmp/.mallometer-" + pid, "socket"))))
              .isTrue();
          Result report = call("report", pid);
          assertThat(report.exitCode()).as(report.err()).isZero();
          assertThat(report.out()).contains("ACTIVE: attached", "DeflaterLeak.main");
          assertThat(call("phase", pid, "--begin", "warm").exitCode()).isZero();
          assertThat(left()).isEmpty();
        });
    assertThat(log).content().doesNotContain("WARNING: A Java agent");
  }

  private interface Use {
    void of(Process process) throws Exception;
  }

  /** Starts a program, waits until it has printed "runs", uses it, and kills it. */
  private static void withCommand(List<String> command, Path log, Use use) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("MALLOMETER_ATTACH", "on");
    Process process = builder.start();
    try {
      assertThat(ChildJvm.await(() -> Files.readString(log).contains("runs"))).isTrue();
      use.of(process);
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static String mapped(ProcessHandle process) throws IOException {
    return Files.readString(Path.of("/proc", "" + process.pid(), "maps"))
        .lines()
        .filter(line -> line.contains("libmallometer"))
        .collect(Collectors.joining("\n"));
  }

  private static List<String> with(List<String> words, String... more) {
    List<String> all = new ArrayList<>(words);
    all.addAll(List.of(more));
    return all;
  }

  private static void copyAsVersion(String version, Path to) throws IOException {
    try (JarFile from = new JarFile(JAR)) {
      Manifest manifest = new Manifest(from.getManifest());
      manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
      try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(to), manifest)) {
        for (JarEntry entry : Collections.list(from.entries())) {
          if (!entry.getName().equals(JarFile.MANIFEST_NAME)) {
            out.putNextEntry(new ZipEntry(entry.getName()));
            from.getInputStream(entry).transferTo(out);
          }
        }
      }
    }
  }

  private static void refuses(int exitCode, String reason, String... words) throws Exception {
    Result refused = call(words);
    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(exitCode);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err()).startsWith("mallometer: ").contains(reason).hasLineCount(1);
    assertThat(left()).isEmpty();
  }

  private static List<String> left() throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("hsperfdata") && !name.startsWith("jna"))
          .toList();
    }
  }

  private static void awaitQuestion() throws Exception {
    assertThat(ChildJvm.await(() -> !left().isEmpty())).isTrue();
  }

  private static List<String> threads() throws IOException {
    return threads(application);
  }

  private static List<String> threads(Process process) throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + process.pid(), "task"))) {
      List<String> names = new ArrayList<>();
      for (Path task : tasks.toList()) {
        names.add(Files.readString(task.resolve("comm")).strip());
      }
      return names;
    }
  }

  private static String errors(Process command) throws IOException {
    return new String(command.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private static void signal(String name) throws Exception {
    signal(name, application);
  }

  private static void signal(String name, Process process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor())
        .isZero();
  }

  private static String awaitScreen(String socket, String text) throws Exception {
    AtomicReference<String> screen = new AtomicReference<>("");
    ChildJvm.await(
        () -> {
          screen.set(tmux(socket, "capture-pane", "-p"));
          return screen.get().contains(text);
        });
    assertThat(screen.get()).contains(text);
    return screen.get();
  }

  private static String tmux(String socket, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("tmux", "-L", socket));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("TERM", "xterm");
    builder.environment().remove("TMUX");
    return finish(builder).out();
  }

  private static Result call(String... words) throws Exception {
    return finish(builder(words));
  }

  private static ProcessBuilder builder(String... words) {
    List<String> command = new ArrayList<>(List.of(JAVA));
    command.addAll(CommandLineTest.QUICK);
    command.addAll(List.of("-Djava.io.tmpdir=" + temporary, "-jar", JAR));
    command.addAll(List.of(words));
    return new ProcessBuilder(command);
  }

  private static Result finish(ProcessBuilder builder) throws Exception {
    builder.environment().put("XDG_CACHE_HOME", directory.resolve("cache").toString());
    builder.environment().remove("LD_PRELOAD");
    Path out = Files.createTempFile(directory, "out", "");
    Path err = Files.createTempFile(directory, "err", "");
    if (builder.redirectOutput() == ProcessBuilder.Redirect.PIPE) {
      builder.redirectOutput(out.toFile());
    }
    Process process = builder.redirectError(err.toFile()).start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
      throw new AssertionError("did not end: " + builder.command());
    }
    return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
  }
}
