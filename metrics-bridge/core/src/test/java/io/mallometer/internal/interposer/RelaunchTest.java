package io.mallometer.internal.interposer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.ChildJvm;
import io.mallometer.internal.interposer.Relaunch.Caller;
import io.mallometer.internal.interposer.Relaunch.Refused;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that execute themselves once more, and those that must not. */
class RelaunchTest {

  private static final Path OWN_JVM = Path.of(System.getProperty("java.home"));

  /** A program starts with the signals blocked that its parent blocks, as a JVM does. */
  private static final String UNBLOCKING =
      "perl -MPOSIX -e 'sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); exec @ARGV'";

  @TempDir private Path directory;

  static List<Path> jdks() {
    return ChildJvm.jdksSince(17);
  }

  @ParameterizedTest
  @Tag("any-jdk")
  @Tag("process")
  @MethodSource("jdks")
  void theProcessStaysAndCountsFromItsFirstInstruction(Path jdk) throws Exception {
    Path options = Files.writeString(directory.resolve("options"), "-Dfrom.file=\"a b\"\n");
    String output =
        run(
            jdk,
            UNBLOCKING,
            "echo pid $$; export ODD=\"$(printf 'x\\377 y')\" EMPTY= LD_PRELOAD=libdl.so.2"
                + " JDK_JAVA_OPTIONS='-Dodd=1'; exec 9>'%s'".formatted(directory.resolve("lock")),
            List.of("@" + options),
            "relaunches",
            "two words",
            "",
            "$(printf 'x\\377y')");

    String pid = output.lines().findFirst().orElseThrow().replace("pid ", "");
    assertThat(output.lines().filter(line -> line.startsWith("begins ")))
        .containsExactly("begins " + pid, "begins " + pid);
    assertThat(output)
        .containsOnlyOnce("not relaunched []")
        .contains("mode relaunched", "options with odd: 1", "input one\ntwo\n")
        .contains("word [@" + options + "]", "word [two words]", "word []", "word [x%ffy]")
        .contains("variable [ODD=x%ff y]", "variable [EMPTY=]", "variable [MALLOMETER_ONLY=java]")
        .containsPattern("variable \\[LD_PRELOAD=/.*/libmallometer\\.so:libdl\\.so\\.2]")
        .contains("signals blocked 0000000000000000")
        .contains("open 9 " + directory.resolve("lock"))
        .containsOnlyOnce("/lib/modules");
    String attached = run(jdk, "export MALLOMETER_RELAUNCHED=$$", List.of(), "attaches");
    assertThat(attached).contains("mode attached");
    assertThat(allocations(output)).isGreaterThan(allocations(attached) + 10_000);
  }

  private static long allocations(String output) {
    return output
        .lines()
        .filter(line -> line.startsWith("allocations "))
        .mapToLong(line -> Long.parseLong(line.replace("allocations ", "")))
        .findFirst()
        .orElseThrow();
  }

  /** As after a loader that ignored what LD_PRELOAD names. */
  @Test
  @Tag("process")
  void nothingIsExecutedTwice() throws Exception {
    assertThat(run(OWN_JVM, "export MALLOMETER_RELAUNCHED=$$", List.of(), "relaunches"))
        .containsOnlyOnce("begins ")
        .contains("[the process was relaunched, but the dynamic loader did not load")
        .contains("mode none");
  }

  @Test
  @Tag("process")
  void aChildProcessThatInheritsTheGuardIsNotMeant() throws Exception {
    assertThat(run(OWN_JVM, "export MALLOMETER_RELAUNCHED=1", List.of(), "relaunches"))
        .contains("not relaunched []", "mode relaunched");
  }

  @ParameterizedTest
  @Tag("process")
  @CsvSource({
    "socket, a socket is open",
    "child, the process has child processes",
    "thread, the thread worker runs already",
    "daemon, the thread worker runs already",
    "input-replaced, standard input has been read or replaced",
    "input-closed, standard input has been read or replaced",
    "other-thread, mallometer was not started by the program's main method, but by java.lang.Thread"
  })
  void whatHasBegunIsNotExecutedOnceMore(String before, String reason) throws Exception {
    assertThat(run(OWN_JVM, ":", List.of(), before))
        .containsOnlyOnce("begins ")
        .contains("not relaunched [" + reason)
        .contains("mode none", "input one\ntwo\n");
  }

  /** Of a pipe and of a file. */
  @ParameterizedTest
  @Tag("process")
  @ValueSource(strings = {":", "exec 8<&0 <'%s'"})
  void whatWasReadOfTheInputIsNotLost(String redirection) throws Exception {
    Path file = Files.writeString(directory.resolve("input"), "one\ntwo\n");

    assertThat(run(OWN_JVM, redirection.formatted(file), List.of(), "input-read"))
        .containsOnlyOnce("begins ")
        .contains("not relaunched [standard input has been read or replaced]", "input ne\ntwo\n");
    assertThat(run(OWN_JVM, redirection.formatted(file), List.of(), "relaunches"))
        .contains("not relaunched []", "mode relaunched", "input one\ntwo\n");
  }

  /** Who reads holds a lock of the stream. */
  @Test
  @Tag("process")
  void aThreadThatReadsTheInputIsNotWaitedFor() throws Exception {
    String endless = "mkfifo '%1$s'; exec 8<&0 <>'%1$s'".formatted(directory.resolve("endless"));

    assertThat(run(OWN_JVM, "timeout 30", endless, List.of(), "reader"))
        .contains("not relaunched [the thread reader runs already]", "mode none");
  }

  @Test
  @Tag("process")
  void aProgramWithoutInputIsExecutedOnceMore() throws Exception {
    assertThat(run(OWN_JVM, "exec 8<&0 </dev/null", List.of(), "relaunches"))
        .contains("not relaunched []", "mode relaunched");
  }

  @ParameterizedTest
  @Tag("process")
  @ValueSource(strings = {"MALLOMETER_ATTACH=off", "MALLOMETER_ENABLED=false"})
  void anOperatorMayForbidIt(String setting) throws Exception {
    assertThat(run(OWN_JVM, "export " + setting, List.of(), "relaunches"))
        .containsOnlyOnce("begins ")
        .contains("not relaunched [" + setting + "]");
  }

  @Test
  void anotherLauncherThanJavaIsRefused() {
    assertThatCode(() -> RelaunchConditions.refuseOtherLaunchers(Path.of("/jdk/bin/java")))
        .doesNotThrowAnyException();
    for (String other : List.of("/usr/bin/jsvc", "/opt/App/bin/App", "/jdk/bin/java (deleted)")) {
      refused(other, () -> RelaunchConditions.refuseOtherLaunchers(Path.of(other)));
    }
  }

  @Test
  void aProgramWithMoreRightsThanItsUserIsRefused() {
    String same = "1000\t1000\t1000\t1000";
    assertThatCode(() -> RelaunchConditions.refuseOtherRights(vector(23, 0), same, same))
        .doesNotThrowAnyException();
    refused("privileges", () -> RelaunchConditions.refuseOtherRights(vector(23, 1), same, same));
    refused(
        "privileges",
        () -> RelaunchConditions.refuseOtherRights(vector(23, 0), "1000\t0\t0\t0", same));
  }

  private static byte[] vector(long kind, long value) {
    ByteBuffer pairs = ByteBuffer.allocate(48).order(ByteOrder.nativeOrder());
    return pairs.putLong(6).putLong(4096).putLong(kind).putLong(value).array();
  }

  @Test
  void argumentsThatCannotBeReadAgainAreRefused() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    RelaunchConditions.refuseLostFiles(List.of("java", "@" + file, "@", "Main"));
    refused(
        "a file that cannot be read",
        () -> RelaunchConditions.refuseLostFiles(List.of("java", "@/dev/fd/63")));
    refused(
        "a file that cannot be read",
        () -> RelaunchConditions.refuseLostFiles(List.of("java", "@" + directory)));
  }

  @Test
  void agentsThatActedBeforeAreRefused() throws Exception {
    Path jar = Files.createFile(directory.resolve("agent.jar"));
    String ours = "-javaagent:" + jar + "=relaunch=true";
    RelaunchConditions.refuseOptions(
        Caller.AGENT, List.of("-Xmx1g", ours, "-javaagent:later.jar"), jar);
    RelaunchConditions.refuseOptions(
        Caller.APPLICATION, List.of("-javaagent:/opt/mallometer-agent.jar"), null);
    refused(
        "another agent has acted already: -javaagent:other.jar",
        Caller.AGENT,
        jar,
        "-javaagent:other.jar=x",
        ours);
    refused(
        "another agent has acted already: -agentlib:jdwp",
        Caller.AGENT,
        jar,
        ours,
        "-agentlib:jdwp=transport=dt_socket");
    refused("another agent", Caller.APPLICATION, jar, ours, "-javaagent:later.jar");
    refused("records or restores", Caller.AGENT, jar, ours, "-XX:ArchiveClassesAtExit=a.jsa");
    refused("records or restores", Caller.AGENT, jar, ours, "-XX:CRaCCheckpointTo=cr");
    refused("Flight Recorder", Caller.APPLICATION, jar, "-XX:StartFlightRecording:x");
  }

  @Test
  void optionsAreReadFromFilesTooAndEndWithTheProgram() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "-Xmx1g\n\"-javaagent:a b.jar\"");

    assertThat(
            RelaunchConditions.options(
                List.of("java", "@" + file, "Main", "-javaagent:none.jar"), "Main"))
        .contains("-Xmx1g", "-javaagent:a")
        .doesNotContain("java", "-javaagent:none.jar");
  }

  @Test
  void theProgramBeginsWithItsJarOrMainClass() {
    assertThat(RelaunchConditions.main(List.of("java", "-jar", "my app.jar", "x"), "my app.jar x"))
        .isEqualTo("my app.jar");
    assertThat(RelaunchConditions.main(List.of("java", "Main", "-jar", "x"), "Main -jar x"))
        .isEqualTo("Main");
  }

  @Test
  void onlyTheProgramsOwnMainMethodMayBegin() throws Exception {
    RelaunchConditions.refuseOtherPrograms(
        stack(
            "io.mallometer.X.a",
            "org.springframework.boot.SpringApplication.run",
            "app.Main.main"));
    RelaunchConditions.refuseOtherPrograms(
        stack(
            "org.springframework.boot.SpringApplication.run",
            "app.Main$Companion.start",
            "app.Main.main",
            "java.lang.reflect.Method.invoke",
            "org.springframework.boot.loader.launch.Launcher.launch",
            "org.springframework.boot.loader.launch.JarLauncher.main"));
    for (List<StackTraceElement> other :
        List.of(
            stack(
                "org.springframework.boot.SpringApplication.run",
                "app.MainTest.starts",
                "org.junit.platform.Launcher.execute",
                "org.apache.maven.surefire.booter.ForkedBooter.main"),
            stack(
                "org.springframework.boot.SpringApplication.run",
                "app.Job.call",
                "java.lang.Thread.run"))) {
      refused(
          "not started by the program's main method",
          () -> RelaunchConditions.refuseOtherPrograms(other));
    }
  }

  /** The latest call first. */
  private static List<StackTraceElement> stack(String... calls) {
    return Arrays.stream(calls)
        .map(
            call -> {
              int dot = call.lastIndexOf('.');
              return new StackTraceElement(call.substring(0, dot), call.substring(dot + 1), "", 1);
            })
        .toList();
  }

  private static void refused(String reason, Caller caller, Path own, String... options) {
    refused(reason, () -> RelaunchConditions.refuseOptions(caller, List.of(options), own));
  }

  private static void refused(String reason, ThrowingCallable check) {
    assertThatThrownBy(check).isInstanceOf(Refused.class).hasMessageContaining(reason);
  }

  /** Runs the program from a shell, which can pass arguments that are no text. */
  private static String run(Path jdk, String before, List<String> options, String... arguments)
      throws Exception {
    return run(jdk, "", before, options, arguments);
  }

  private static String run(
      Path jdk, String starter, String before, List<String> options, String... arguments)
      throws Exception {
    List<String> words = new ArrayList<>(List.of(jdk + "/bin/java", "-Xmx64m", "-Xshare:auto"));
    words.addAll(options);
    words.addAll(
        List.of("-cp", System.getProperty("java.class.path"), RelaunchedProgram.class.getName()));
    words.addAll(List.of(arguments));
    String command =
        words.stream()
            .map(word -> '"' + word + '"')
            .reduce(before + "; exec " + starter, (line, word) -> line + " " + word);
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("MALLOMETER"));
    builder.environment().remove("LD_PRELOAD");
    Process process = builder.start();
    process.getOutputStream().write("one\ntwo\n".getBytes(Relaunch.BYTES));
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), Relaunch.BYTES);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    return output;
  }
}
