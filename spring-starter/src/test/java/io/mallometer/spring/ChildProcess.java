package io.mallometer.spring;

import io.mallometer.internal.library.load.BundledLibrary;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

record ChildProcess(int exitCode, String output) {

  /** Options that halve the run time of JVMs that live for a few seconds. */
  private static final String QUICK =
      "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
          + " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote";

  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  static ChildProcess run(Path directory, List<String> command)
      throws IOException, InterruptedException {
    return run(directory, "", command);
  }

  static ChildProcess runPreloaded(Path directory, List<String> command)
      throws IOException, InterruptedException {
    return run(directory, BundledLibrary.extract().toString(), command);
  }

  private static ChildProcess run(Path directory, String preload, List<String> command)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile(directory, "output", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().put("LD_PRELOAD", preload);
    builder.environment().put("JDK_JAVA_OPTIONS", QUICK);
    Process process = builder.start();
    if (!process.waitFor(120, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
      throw new AssertionError(command + " did not end: " + Files.readString(output));
    }
    return new ChildProcess(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
  }

  List<String> lines(String text) {
    return output.lines().filter(line -> line.contains(text)).toList();
  }
}
