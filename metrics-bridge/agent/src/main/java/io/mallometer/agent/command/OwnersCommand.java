package io.mallometer.agent.command;

import io.mallometer.internal.text.HumanText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints the Java objects that retain the native memory of a call site. */
@Command(
    name = "owners",
    description = {
      "Searches the Java heap of a JVM for the objects that hold the native memory of a call site.",
      "Each walk over the heap stops the program; it is estimated first, and refused above the"
          + " budget. Over http the agent needs its option allow-owners=true."
    })
final class OwnersCommand implements Callable<Integer> {

  @Mixin private Target target = new Target("2m");

  @Option(
      names = "--site",
      paramLabel = "N",
      required = true,
      description = "the call site's number, as leaks --json and the view sites show it")
  private int site;

  @Option(
      names = "--links",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "look for what keeps the holders over so many links, 0 to 8; each stops the program once"
              + " more")
  private int links;

  @Option(
      names = "--pause",
      paramLabel = "TIME",
      description = "how long each walk may stop the program; of a process by its id; usually 1s")
  private @Nullable String pause;

  @Option(
      names = "--total",
      paramLabel = "TIME",
      description = "how long all walks may stop it; of a process by its id; usually 5s")
  private @Nullable String total;

  @Option(names = "--estimate", description = "only tell how long the first walk would take")
  private boolean estimate;

  @Option(names = "--json", description = "as JSON")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    try (Source source = target.open()) {
      Output out = Output.standard();
      Json outlook = source.get("owners").json();
      if (estimate) {
        out.line(about(outlook)).flush();
        return ExitCode.OK;
      }
      if (!json) {
        System.err.println(about(outlook));
      }
      Source.Reply reply = asked(source);
      if (json) {
        out.copy(reply.body());
        out.line("").flush();
        return ExitCode.OK;
      }
      show(reply.json(), out);
      out.flush();
    }
    return ExitCode.OK;
  }

  private static String about(Json outlook) {
    return String.format(
        Locale.ROOT,
        "A walk over the Java heap is estimated to stop the program for %.2f s.",
        outlook.at("pauseSeconds").number());
  }

  private Source.Reply asked(Source source) throws Exception {
    Progress progress = Progress.begin("searching");
    try {
      List<String> parameters = new ArrayList<>(List.of("links=" + links));
      if (pause != null) {
        parameters.add("pause=" + pause);
      }
      if (total != null) {
        parameters.add("total=" + total);
      }
      return source.post("owners/%d?%s".formatted(site, String.join("&", parameters)));
    } finally {
      progress.end();
    }
  }

  private static void show(Json report, Output out) throws Exception {
    out.line(report.at("explanation").text());
    for (Json way : report.at("ways").list()) {
      out.line(
          "  %d of %d (%s) %s%s%s"
              .formatted(
                  (long) way.at("samples").number(),
                  (long) report.at("samples").number(),
                  HumanText.shares(way.at("shareLow").number(), way.at("shareHigh").number()),
                  way.at("words").text(),
                  way.at("holder").text().isEmpty() ? "" : ": " + way.at("holder").text(),
                  way.at("throughNative").truth() ? ", through native memory" : ""));
      for (Json path : way.at("paths").list()) {
        String text = path.at("text").text();
        out.line(
            "      %d x %s%s"
                .formatted(
                    (long) path.at("holders").number(),
                    path.at("words").text(),
                    text.isEmpty() ? "" : ": " + text));
      }
    }
    for (Json remark : report.at("remarks").list()) {
      out.line("  " + remark.text() + ".");
    }
    List<Json> pauses = report.at("pauses").list();
    out.line(
        String.format(
            Locale.ROOT,
            "  %d pauses, %.2f s in all, the longest %.2f s.",
            pauses.size(),
            pauses.stream().mapToDouble(Json::number).sum(),
            pauses.stream().mapToDouble(Json::number).max().orElse(0)));
  }
}
