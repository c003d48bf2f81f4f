package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.program.DeflaterLeak;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Tests commands that read. The last test ends the application that all tests of this class share.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("process")
class ProcessCommandsTest extends ProcessCommands {

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
                    .formatted(JAVA, String.join(" ", QUICK), JAR, pid())));
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
      command.addAll(QUICK);
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
    givesUp(
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

  private static String inShell(String words, Path ended) {
    return "'%s' %s -Djava.io.tmpdir='%s' -jar '%s' %s; echo $? > %s; sleep 100"
        .formatted(JAVA, String.join(" ", QUICK), temporary, JAR, words, ended);
  }

  private static void interrupt(String socket, Path ended) throws Exception {
    tmux(socket, "send-keys", "C-c");
    ChildJvm.await(() -> Files.exists(ended) && Files.size(ended) > 0);
    assertThat(ended).hasContent("130");
    assertThat(left()).isEmpty();
  }

  private static void awaitQuestion() throws Exception {
    assertThat(ChildJvm.await(() -> !left().isEmpty())).isTrue();
  }

  private static String errors(Process command) throws IOException {
    return new String(command.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
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
}
