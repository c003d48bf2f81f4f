package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the commands of the agent's jar. The tests of a class share one JVM for their commands
 * ({@link #call}). A command has a JVM of its own ({@link #finish}) if its test is about the
 * process: its environment, working directory, input, exit code or end.
 */
abstract class CommandRuns {

  /** Options of a JVM that runs for some seconds. It has the collector that the JVM chooses. */
  static final List<String> SHORT_LIVED =
      List.of(
          "-Xmx64m",
          "-XX:TieredStopAtLevel=1",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:-BytecodeVerificationRemote");

  /** Options of a JVM for a command, which runs for half a second. */
  static final List<String> QUICK = with(SHORT_LIVED, "-XX:+UseSerialGC");

  static final String JAR = System.getProperty("agent.jar");
  static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private static final int LONGEST_SECONDS = 60;

  @TempDir static Path directory;

  static Path temporary;

  private static Process commands;
  private static Path errors;

  record Result(int exitCode, String out, String err) {}

  @BeforeAll
  static void prepareCommands() throws IOException {
    temporary = Files.createDirectory(directory.resolve("tmp"));
    startCommands();
  }

  private static void startCommands() throws IOException {
    errors = Files.createTempFile(directory, "errors", "");
    try (JarFile jar = new JarFile(JAR)) {
      String version =
          jar.getManifest().getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
      commands =
          java("-cp", JAR + ":target/test-classes", ManyCommands.class.getName(), version)
              .redirectError(errors.toFile())
              .start();
    }
  }

  @AfterAll
  static void endCommands() throws InterruptedException {
    if (commands != null) {
      commands.destroyForcibly().waitFor();
    }
  }

  /**
   * Runs a command in the JVM that all tests of the class share. A new JVM follows one that died or
   * in which a command did not end.
   */
  static Result call(String... words) throws Exception {
    int begin = (int) Files.size(errors);
    Writer line = commands.outputWriter(StandardCharsets.UTF_8);
    line.write(String.join(ManyCommands.SEPARATOR, words) + "\n");
    line.flush();
    BufferedReader output = commands.inputReader(StandardCharsets.UTF_8);
    StringBuilder out = new StringBuilder();
    String exitCode = null;
    try {
      exitCode =
          assertTimeoutPreemptively(
              Duration.ofSeconds(LONGEST_SECONDS),
              () -> {
                for (int c = output.read(); c > ManyCommands.END; c = output.read()) {
                  out.append((char) c);
                }
                return output.readLine();
              });
      byte[] written = Files.readAllBytes(errors);
      String err = new String(written, begin, written.length - begin, StandardCharsets.UTF_8);
      assertThat(exitCode).as(err).isNotNull();
      return new Result(Integer.parseInt(exitCode), out.toString(), err);
    } finally {
      if (exitCode == null) {
        endCommands();
        startCommands();
      }
    }
  }

  /** Returns a command in a JVM of its own. */
  static ProcessBuilder builder(String... words) {
    return java(with(List.of("-jar", JAR), words).toArray(String[]::new));
  }

  private static ProcessBuilder java(String... arguments) {
    List<String> command = with(with(List.of(JAVA), QUICK), "-Djava.io.tmpdir=" + temporary);
    ProcessBuilder builder = new ProcessBuilder(with(command, arguments));
    builder.environment().put("XDG_CACHE_HOME", directory.resolve("cache").toString());
    builder.environment().remove("LD_PRELOAD");
    return builder;
  }

  static Result finish(ProcessBuilder builder) throws Exception {
    Path out = Files.createTempFile(directory, "out", "");
    Path err = Files.createTempFile(directory, "err", "");
    if (builder.redirectOutput() == ProcessBuilder.Redirect.PIPE) {
      builder.redirectOutput(out.toFile());
    }
    Process process = builder.redirectError(err.toFile()).start();
    if (!process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
      throw new AssertionError("did not end: " + builder.command());
    }
    return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  static List<String> with(List<String> words, String... more) {
    return with(words, List.of(more));
  }

  static List<String> with(List<String> words, List<String> more) {
    List<String> all = new ArrayList<>(words);
    all.addAll(more);
    return all;
  }
}
