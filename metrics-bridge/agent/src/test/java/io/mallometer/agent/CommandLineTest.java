package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests tagged any-jdk do not depend on the JDK, so bin/test runs them on one JDK only. */
@Tag("process")
class CommandLineTest extends CommandRuns {

  @Test
  @Tag("any-jdk")
  void extractPrintsThePathAndNothingElse() throws Exception {
    Result result = finish(builder("extract", directory.resolve("here").toString()));

    assertThat(result.out().strip())
        .isEqualTo(directory.resolve("here/libmallometer.so").toString());
    assertThat(Path.of(result.out().strip())).isNotEmptyFile();
    assertThat(result).extracting(Result::exitCode, Result::err).containsExactly(0, "");
  }

  @Test
  @Tag("any-jdk")
  void whatRunSetsIsPrivateAndTheSameEachTime() throws Exception {
    Result first = call("run", "--print-environment", "--", "java", "-version");

    assertThat(first.out())
        .startsWith("LD_PRELOAD=" + directory + "/cache/mallometer/")
        .endsWith("/libmallometer.so\nMALLOMETER_ONLY=java\n");
    assertThat(call("run", "--print-environment", "--", "java", "-version")).isEqualTo(first);
    assertThat(
            call("run", "--only", "a,b", "--recording", "/x", "--print-environment", "sort").out())
        .contains("MALLOMETER_ONLY=a,b\n", "MALLOMETER_RECORDING=/x\n");
    assertThat(call("run", "--print-environment", "sort").out())
        .endsWith("MALLOMETER_ONLY=java,sort\n");
  }

  @Test
  @Tag("any-jdk")
  void monitorsBecomeVariables() throws Exception {
    assertThat(
            call(
                    "run",
                    "--monitor",
                    "maximum",
                    "--monitor=threshold=200m",
                    "--print-environment",
                    "sort")
                .out())
        .contains("MALLOMETER_MONITOR=maximum,threshold\n", "MALLOMETER_HUGE=200m\n");

    Result wrong = call("run", "--monitor", "phase", "--print-environment", "sort");

    assertThat(wrong.exitCode()).isNotZero();
    assertThat(wrong.err())
        .contains(
            "there is no monitor phase; choose maximum, histogram, usable-sizes or"
                + " threshold=SIZE");
  }

  @Test
  @Tag("any-jdk")
  void runSaysTheMaximumOfForkedProgramsToo() throws Exception {
    Result result = finish(builder("run", "--monitor", "maximum", "--", "bash", "-c", "(:); :"));

    assertThat(result.exitCode()).isZero();
    assertThat(result.err())
        .matches("(mallometer: bash \\(\\d+\\) at exit: peak \\d+ bytes, live .*\n){2}");
  }

  @Test
  @Tag("any-jdk")
  void extractThatCannotWriteFails() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    Result result = call("extract", file.toString());

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith("mallometer: ").hasLineCount(1);
  }

  @Test
  void runPreloadsAndPassesInputOutputAndTheExitCode() throws Exception {
    Path input = Files.writeString(directory.resolve("input"), "hello\n");
    String shell = "cat; echo $LD_PRELOAD; grep -c libmallometer /proc/self/maps; exit 7";
    ProcessBuilder builder = builder("run", "--", "sh", "-c", shell);
    builder.environment().put("LD_PRELOAD", "/lib/x86_64-linux-gnu/libm.so.6");
    Result result = finish(builder.redirectInput(input.toFile()));

    assertThat(result.out())
        .matches("hello\n\\S+/libmallometer\\.so:/lib/x86_64-linux-gnu/libm\\.so\\.6\n[1-9]\\d*\n");
    assertThat(result.exitCode()).isEqualTo(7);
  }

  @Test
  @Tag("any-jdk")
  void aSignalToUsEndsTheProgramFirst() throws Exception {
    Path ended = directory.resolve("ended");
    Process wrapper =
        builder(
                "run",
                "sh",
                "-c",
                "trap 'touch "
                    + ended
                    + "; exit 5' TERM; echo started; while :; do sleep 0.1; done")
            .start();
    assertThat(wrapper.inputReader().readLine()).isEqualTo("started");
    wrapper.destroy();

    assertThat(wrapper.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(ended).exists();
    assertThat(wrapper.exitValue()).isEqualTo(5);
  }

  @Test
  @Tag("any-jdk")
  void aProgramThatDoesNotExistFails() throws Exception {
    Result result = call("run", "/does/not/exist");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).startsWith("mallometer: ").hasLineCount(1);
  }

  @Test
  @Tag("any-jdk")
  void reportPrintsWhatTheFileRecordedAndEndsWithCodeThreeForAnotherMoment() throws Exception {
    Path recording = directory.resolve("recording");
    ProcessBuilder program = builder("--version");
    program.environment().put("MALLOMETER_RECORDING", recording.toString());
    program.environment().put("LD_PRELOAD", System.getProperty("library"));
    assertThat(finish(program).exitCode()).isZero();

    Result report = call("report", recording.toString());
    assertThat(report).extracting(Result::exitCode, Result::err).containsExactly(0, "");
    assertThat(report.out())
        .startsWith("Recording " + recording)
        .contains("This process exited with code 0", "malloc live");
    Result moment = call("report", recording.toString(), "--format", "pprof", "--at", "90");
    assertThat(moment.exitCode()).isEqualTo(3);
    assertThat(moment.err()).contains("no call sites at 90 % of the limit");
    assertThat(call("report", recording.toString(), "--format", "json").err())
        .contains("a recording has no json");
    assertThat(call("report", recording.toString(), "--at", "90").err())
        .contains("--at needs a --format of call sites");
  }

  @Test
  @Tag("any-jdk")
  void reportOnSomethingElseIsOneLineAndCodeThree() throws Exception {
    Path text = Files.writeString(directory.resolve("text"), "the grocery list");
    Path empty = Files.createFile(directory.resolve("empty"));

    for (Path file : List.of(text, empty)) {
      Result result = call("report", file.toString());
      assertThat(result.exitCode()).isEqualTo(3);
      assertThat(result.out()).isEmpty();
      assertThat(result.err()).startsWith("mallometer: " + file + ": ").hasLineCount(1);
    }
    Result missing = call("report", directory.resolve("missing").toString());
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.err()).startsWith("mallometer: ").hasLineCount(1);
  }

  @Test
  void versionAndHelpSucceed() throws Exception {
    assertThat(finish(builder("--version")).out())
        .matches("mallometer \\d+\\.\\d+\\.\\d+\\S*, interface \\d+\n");
    Result help = call("--help");
    assertThat(help).extracting(Result::exitCode, Result::err).containsExactly(0, "");
    assertThat(help.out()).contains("extract", "run", "-javaagent", "Exit codes");
    for (String command : List.of("top", "report", "leaks", "bundle", "doctor")) {
      Result ofCommand = call(command, "--help");
      assertThat(ofCommand.out())
          .as("each heading of the help of each command has lines below it")
          .containsPattern("Exit codes:\n +0 ")
          .doesNotContainPattern("(?m)^\\S.*:\n(\n|\\S)")
          .contains("--timeout");
    }
  }

  /** The completion is a script for bash. zsh reads it through bashcompinit. */
  @Test
  @Tag("any-jdk")
  void bashAndZshCompleteCommandsAndOptions() throws Exception {
    Path script = directory.resolve("completion");
    Files.writeString(script, call("generate-completion").out());
    Result bash =
        finish(
            new ProcessBuilder(
                "bash",
                "-c",
                "source '%s'; COMP_WORDS=(mallometer re); COMP_CWORD=1; ".formatted(script)
                    + "_complete_mallometer; echo ${COMPREPLY[@]}; complete -p mallometer"));
    assertThat(bash.out()).as(bash.err()).startsWith("report\n").contains("_complete_mallometer");

    assumeTrue(
        "true".equals(System.getenv("REQUIRE_ZSH")) || Files.isExecutable(Path.of("/usr/bin/zsh")),
        "zsh is not installed");
    Path said = directory.resolve("said");
    Files.writeString(
        directory.resolve(".zshrc"),
        """
        autoload -U compinit bashcompinit
        compinit -u
        bashcompinit
        source '%s'
        PROMPT='ready '
        mallometer() { echo "asked $@" > '%s'; }
        """
            .formatted(script, said));
    completeInZsh("mallometer rep\tmoon --dur\t9s\n");
    assertThat(said).hasContent("asked report moon --duration 9s");
  }

  private void completeInZsh(String keys) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder("script", "-qec", "zsh -i", "/dev/null").redirectErrorStream(true);
    builder.environment().put("ZDOTDIR", directory.toString());
    builder.environment().put("TERM", "xterm");
    Process zsh = builder.start();
    try (OutputStream typed = zsh.getOutputStream()) {
      Reader screen = zsh.inputReader(StandardCharsets.UTF_8);
      await(screen, "ready ");
      typed.write(keys.getBytes(StandardCharsets.UTF_8));
      typed.flush();
      await(screen, "ready ");
      typed.write("exit\n".getBytes(StandardCharsets.UTF_8));
    }
    assertThat(zsh.waitFor(60, TimeUnit.SECONDS)).isTrue();
  }

  private static void await(Reader screen, String text) throws IOException {
    StringBuilder seen = new StringBuilder();
    while (seen.indexOf(text) < 0) {
      int c = screen.read();
      assertThat(c).as(seen.toString()).isNotNegative();
      seen.append((char) c);
    }
  }

  @Test
  @Tag("any-jdk")
  void whatIsNotUnderstoodGetsTheHelp() throws Exception {
    for (List<String> words : List.of(List.<String>of(), List.of("report"), List.of("run"))) {
      Result result = call(words.toArray(String[]::new));

      assertThat(result.exitCode()).as(words.toString()).isEqualTo(64);
      assertThat(result.out()).isEmpty();
      assertThat(result.err()).contains("Exit codes").containsPattern("\nmallometer: .+\\s*$");
    }
  }

  @Test
  @Tag("any-jdk")
  void commandsThatChangeAProcessTakeNoAddress() throws Exception {
    for (String command : List.of("attach", "detach", "phase")) {
      assertThat(call(command, "--help").out())
          .contains(" PID\n")
          .doesNotContain("URL", "http", "--user");

      Result result = call(command, "http://127.0.0.1:1");
      assertThat(result.exitCode()).as(command).isEqualTo(64);
      assertThat(result.out()).isEmpty();
      assertThat(result.err())
          .startsWith("mallometer: \"http://127.0.0.1:1\" is not a process id")
          .hasLineCount(1);
    }
  }
}
