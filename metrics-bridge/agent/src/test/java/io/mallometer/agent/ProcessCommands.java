package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.program.DeflaterLeak;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * Runs the agent's commands on other JVMs. The tests of a class share one application, into which
 * the library is preloaded.
 */
abstract class ProcessCommands extends CommandRuns {

  static final int NOBODY = 65_534;

  /** Options of a short-lived JVM that loads agents without a warning. */
  static final List<String> LOADING_AGENTS = with(SHORT_LIVED, "-XX:+EnableDynamicAgentLoading");

  static Process application;

  @BeforeAll
  static void start() throws IOException {
    application = application(DeflaterLeak.class, System.getProperty("library"));
  }

  @AfterAll
  static void stop() throws InterruptedException {
    application.destroyForcibly().waitFor();
  }

  static Process application(Class<?> main, String preload, String... options) throws IOException {
    return application(main, Map.of("LD_PRELOAD", preload), options);
  }

  static Process application(Class<?> main, Map<String, String> variables, String... options)
      throws IOException {
    return application(Path.of(System.getProperty("java.home")), main, variables, options);
  }

  static Process application(
      Path jdk, Class<?> main, Map<String, String> variables, String... options)
      throws IOException {
    String java = jdk.resolve("bin/java").toString();
    List<String> command = with(with(List.of(java), LOADING_AGENTS), options);
    String classes = Path.of("target/test-classes").toAbsolutePath().toString();
    ProcessBuilder builder = new ProcessBuilder(with(command, "-cp", classes, main.getName()));
    builder.environment().putAll(variables);
    builder.redirectError(new File("/dev/null"));
    Process started = builder.start();
    BufferedReader output = started.inputReader(StandardCharsets.UTF_8);
    assertThat(output.readLine()).isEqualTo("runs");
    return started;
  }

  static String pid() {
    return Long.toString(application.pid());
  }

  static void refuses(int exitCode, String reason, String... words) throws Exception {
    checkRefusal(exitCode, reason, call(words));
  }

  /**
   * Runs a command in a JVM of its own, as {@link #refuses} does in the shared one, because a
   * command that gives up leaves a thread that waits for the answer.
   */
  static void givesUp(String reason, String... words) throws Exception {
    checkRefusal(6, reason, finish(builder(words)));
  }

  private static void checkRefusal(int exitCode, String reason, Result refused) throws IOException {
    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(exitCode);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err()).startsWith("mallometer: ").contains(reason).hasLineCount(1);
    assertThat(left()).isEmpty();
  }

  static List<String> left() throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("hsperfdata") && !name.startsWith("jna"))
          .toList();
    }
  }

  static List<String> threads() throws IOException {
    return threads(application);
  }

  static List<String> threads(Process process) throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + process.pid(), "task"))) {
      List<String> names = new ArrayList<>();
      for (Path task : tasks.toList()) {
        names.add(Files.readString(task.resolve("comm")).strip());
      }
      return names;
    }
  }

  static void signal(String name) throws Exception {
    signal(name, application);
  }

  static void signal(String name, Process process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor())
        .isZero();
  }
}
