package io.mallometer.agent.command;

import java.util.List;

/**
 * Supplies parts of the JSON of {@code report --duration}, so that other tests can check the names
 * in the JSON.
 */
public final class ReportNames {

  private ReportNames() {}

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
