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
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the agent's commands on other JVMs. The tests of a class share one application, into which
 * the library is preloaded.
 */
abstract class ProcessCommands {

  static final String JAR = System.getProperty("agent.jar");
  static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();
  static final int NOBODY = 65_534;

  @TempDir static Path directory;

  static Process application;
  static Path temporary;

  record Result(int exitCode, String out, String err) {}

  @BeforeAll
  static void start() throws IOException {
    temporary = Files.createDirectory(directory.resolve("tmp"));
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

  static String pid() {
    return Long.toString(application.pid());
  }

  static List<String> with(List<String> words, String... more) {
    List<String> all = new ArrayList<>(words);
    all.addAll(List.of(more));
    return all;
  }

  static void refuses(int exitCode, String reason, String... words) throws Exception {
    Result refused = call(words);
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

  static Result call(String... words) throws Exception {
    return finish(builder(words));
  }

  static ProcessBuilder builder(String... words) {
    List<String> command = new ArrayList<>(List.of(JAVA));
    command.addAll(CommandLineTest.QUICK);
    command.addAll(List.of("-Djava.io.tmpdir=" + temporary, "-jar", JAR));
    command.addAll(List.of(words));
    return new ProcessBuilder(command);
  }

  static Result finish(ProcessBuilder builder) throws Exception {
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
