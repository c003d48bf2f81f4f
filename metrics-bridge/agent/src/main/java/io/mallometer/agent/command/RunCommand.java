package io.mallometer.agent.command;

import io.mallometer.internal.library.load.BundledLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs a program with the library preloaded. */
@Command(
    name = "run",
    description = {
      "Runs COMMAND with the library preloaded, and exits with its exit code.",
      "bin/mallometer becomes the command: same process id, signals and exit code. java -jar waits"
          + " for it, and passes SIGTERM and SIGINT on."
    })
final class RunCommand implements Callable<Integer> {

  private static final String THRESHOLD = "threshold";
  private static final Set<String> OF_NO_SIZE = Set.of("maximum", "histogram", "usable-sizes");
  private static final String ONLY = "MALLOMETER_ONLY";

  @Option(
      names = "--only",
      paramLabel = "NAMES",
      description =
          "count in executables of these names only, separated by commas; java and COMMAND"
              + " itself by default, or the names in MALLOMETER_ONLY")
  private @Nullable String only;

  @Option(
      names = "--recording",
      paramLabel = "FILE",
      description = "record the last hour in FILE, a recording that survives a kill")
  private @Nullable Path recording;

  @Option(
      names = "--sample-interval",
      paramLabel = "BYTES",
      description = "average number of bytes for each sample, such as 128k")
  private @Nullable String sampleInterval;

  @Option(
      names = "--monitor",
      paramLabel = "WHAT",
      description =
          "say on standard error when a program ends, forked ones too: maximum, its peak and sums;"
              + " histogram, its allocations by requested size; usable-sizes, by the size that the"
              + " allocator handed out, which slows the program; threshold=SIZE, its requests above"
              + " SIZE with native stacks. May be repeated")
  private List<String> monitors = List.of();

  @Option(names = "--print-environment", hidden = true, description = "for bin/mallometer")
  private boolean printing;

  @Parameters(arity = "1..*", paramLabel = "COMMAND", description = "the command to run, after --")
  private List<String> command = List.of();

  @Override
  public Integer call() throws Exception {
    Map<String, String> environment = environment(System.getenv());
    if (environment.containsKey(DyldProtection.VARIABLE)) {
      executable(System.getenv().getOrDefault("PATH", ""))
          .flatMap(DyldProtection::objection)
          .ifPresent(line -> System.err.println("mallometer: " + line));
    }
    if (printing) {
      Output out = Output.standard();
      for (Map.Entry<String, String> variable : environment.entrySet()) {
        out.line(variable.getKey() + "=" + variable.getValue());
      }
      out.flush();
      return ExitCode.OK;
    }
    return PreloadedProgram.run(command, environment);
  }

  private Map<String, String> environment(Map<String, String> present) throws IOException, Failure {
    Map<String, String> variables = new LinkedHashMap<>();
    String preload = BundledLibrary.preloadVariable();
    String others = present.getOrDefault(preload, "");
    // The library comes first, because another allocator before it would receive the calls instead.
    variables.put(preload, BundledLibrary.extract() + (others.isEmpty() ? "" : ":" + others));
    if (only != null) {
      variables.put(ONLY, only);
    } else if (present.getOrDefault(ONLY, "").isEmpty()) {
      variables.put(ONLY, String.join(",", names(present.getOrDefault("PATH", ""))));
    }
    if (recording != null) {
      variables.put("MALLOMETER_RECORDING", recording.toAbsolutePath().toString());
    }
    if (sampleInterval != null) {
      variables.put("MALLOMETER_SAMPLE_INTERVAL", sampleInterval);
    }
    if (!monitors.isEmpty()) {
      putMonitors(variables);
    }
    return variables;
  }

  /**
   * Adds the variables for the monitors that {@code --monitor} names. The SIZE of {@code
   * threshold=SIZE} is not checked here, because the library reports an invalid size when the
   * program starts.
   */
  private void putMonitors(Map<String, String> variables) throws Failure {
    Set<String> words = new LinkedHashSet<>();
    for (String monitor : monitors) {
      boolean threshold = monitor.startsWith(THRESHOLD + "=");
      if (threshold) {
        variables.put("MALLOMETER_HUGE", monitor.substring(THRESHOLD.length() + 1));
      } else if (!OF_NO_SIZE.contains(monitor)) {
        throw new Failure(
            ExitCode.USAGE,
            "there is no monitor "
                + monitor
                + "; choose maximum, histogram, usable-sizes or threshold=SIZE");
      }
      words.add(threshold ? THRESHOLD : monitor);
    }
    variables.put("MALLOMETER_MONITOR", String.join(",", words));
  }

  private Set<String> names(String path) {
    Set<String> names = new LinkedHashSet<>(Set.of("java"));
    executable(path).ifPresent(file -> names.add(realName(file)));
    return names;
  }

  private Optional<Path> executable(String path) {
    String word = command.get(0);
    List<Path> candidates = new ArrayList<>();
    if (word.contains("/")) {
      candidates.add(Path.of(word));
    } else {
      for (String directory : path.split(":")) {
        candidates.add(Path.of(directory, word));
      }
    }
    return candidates.stream().filter(Files::isExecutable).findFirst();
  }

  private static String realName(Path file) {
    try {
      return file.toRealPath().getFileName().toString();
    } catch (IOException e) {
      return file.getFileName().toString();
    }
  }
}
