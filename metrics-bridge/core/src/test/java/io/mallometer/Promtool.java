package io.mallometer;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Runs promtool, Prometheus' linter of metrics. */
public final class Promtool {

  private static final Pattern OURS =
      Pattern.compile("(# (HELP|TYPE) )?(mallometer|native|cgroup)_.*");

  private Promtool() {}

  /** Skips the test if promtool is missing, unless REQUIRE_PROMTOOL is true. */
  public static void assumeIsThere() {
    RequiredProgram.onPath("promtool", "prometheus", "REQUIRE_PROMTOOL");
  }

  /**
   * Returns promtool's complaints about mallometer's series. Leaves out the series of other
   * libraries, because promtool complains about Micrometer's {@code system_cpu_count}.
   */
  public static String complaintsAboutOurs(String exposition) throws Exception {
    return complaints(
        exposition
            .lines()
            .filter(line -> OURS.matcher(line).matches())
            .collect(Collectors.joining("\n", "", "\n")));
  }

  /** Returns the output of promtool. If its exit code is not 0, the first line states it. */
  public static String complaints(String exposition) throws Exception {
    Process promtool =
        new ProcessBuilder("promtool", "check", "metrics").redirectErrorStream(true).start();
    promtool.getOutputStream().write(exposition.getBytes(StandardCharsets.UTF_8));
    promtool.getOutputStream().close();
    String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exitCode = promtool.waitFor();
    return exitCode == 0 ? output : "exit code " + exitCode + "\n" + output;
  }
}
