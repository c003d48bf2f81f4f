package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Supplies the JSON of {@code report --duration}, whose names other tests check. */
public final class ReportNames {

  private ReportNames() {}

  /** Writes the report on the agent at an address to a file, and returns it. */
  public static String report(String address, Path file) throws IOException {
    List<String> words =
        List.of("report", address, "--format=json", "--duration=1s", "-o", file.toString());
    assertThat(Commands.run(words, Commands.version())).isEqualTo(ExitCode.OK);
    return Files.readString(file);
  }

  /**
   * Returns the part {@code changes} of two reports. The first states why no change is known, and
   * the second contains a change.
   */
  public static List<String> changes() throws Exception {
    SimulatedSource source = new SimulatedSource();
    SiteGrowth growth = SiteGrowth.from(source.site("shop.Report.pack", 1e6));
    String soon = growth.until(source.after(1), 1);
    String later = growth.until(source.after(60).site("shop.Report.pack", 2e6), 1);
    return List.of("{\"changes\":" + soon + "}", "{\"changes\":" + later + "}");
  }
}
