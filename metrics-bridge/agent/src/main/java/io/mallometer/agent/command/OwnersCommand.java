package io.mallometer.agent.command;

import io.mallometer.internal.owner.HeapDumpSearch;
import io.mallometer.internal.owner.Owners;
import io.mallometer.internal.text.Words;
import io.mallometer.model.OwnerReport;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which Java objects hold the native memory of a call site. */
@Command(
    name = "owners",
    description = {
      "Searches the Java heap of a JVM for the objects that hold the native memory of a call site.",
      "Each walk over the heap stops the program; it is estimated first, and refused above the"
          + " budget. Over http the agent needs its option owners=true."
    })
final class OwnersCommand implements Callable<Integer> {

  @Parameters(
      paramLabel = "PID|URL",
      arity = "0..1",
      description = "a JVM by its process id, or the http address of its agent or endpoint")
  private String target = "";

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "2m",
      description = "how long to wait for an answer")
  private String timeout = "2m";

  @Option(
      names = "--user",
      paramLabel = "NAME",
      defaultValue = "",
      description = "who asks an address; the password is in MALLOMETER_PASSWORD")
  private String user = "";

  @Option(
      names = "--site",
      paramLabel = "N",
      description = "the call site's number, as leaks --json and the view sites show it")
  private @Nullable Integer site;

  @Option(
      names = "--dump",
      paramLabel = "FILE",
      description =
          "do not search: have the JVM write a heap dump to FILE, and the addresses to look for"
              + " beside it. The dump stops the program, and holds its data")
  private @Nullable Path dump;

  @Option(names = "--hprof", paramLabel = "FILE", description = "search in this heap dump instead")
  private @Nullable Path hprof;

  @Option(
      names = "--addresses",
      paramLabel = "FILE",
      description = "of a heap dump: where the native memory was; usually beside the dump")
  private @Nullable Path addresses;

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
    Path file = hprof;
    if (file != null) {
      return offline(file);
    }
    if (target.isEmpty() || site == null) {
      throw new Failure(
          ExitCode.NOT_UNDERSTOOD,
          "a search needs a process and --site N, or --hprof FILE; owners --help tells all");
    }
    try (Source source = Target.open(target, user, Target.span("--timeout", timeout))) {
      Output out = Output.standard();
      if (dump != null) {
        return dumped(source, dump, out);
      }
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

  private int dumped(Source source, Path file, Output out) throws Exception {
    if (!Target.isProcess(target)) {
      throw new Failure(
          ExitCode.NOT_ALLOWED, "--dump needs a process id: heap dumps are not for the network");
    }
    String path = URLEncoder.encode(file.toAbsolutePath().toString(), StandardCharsets.UTF_8);
    try (InputStream body = source.owners("owners/%d?dump=%s".formatted(site, path)).body()) {
      String beside = new String(body.readAllBytes(), StandardCharsets.UTF_8).strip();
      out.line("heap dump in %s, addresses in %s".formatted(file.toAbsolutePath(), beside));
      out.line("Both hold data of the program. Search with: owners --hprof %s".formatted(file))
          .flush();
    }
    return ExitCode.OK;
  }

  private int offline(Path file) throws Exception {
    Path where = addresses;
    Path beside = where == null ? file.resolveSibling(file.getFileName() + ".addresses") : where;
    try {
      Output out = Output.standard();
      HeapDumpSearch search = new HeapDumpSearch(file, beside);
      List<OwnerReport.Way> ways = Owners.ways(search.search(links), links > 0);
      out.line(Owners.sentence(ways, search.samples(), false));
      for (OwnerReport.Way way : ways) {
        out.line(
            "  %d of %d %s%s"
                .formatted(
                    way.samples(),
                    search.samples(),
                    way.holding().words(),
                    way.holder().isEmpty() ? "" : ": " + way.holder()));
        for (OwnerReport.Path path : way.paths()) {
          String text = path.text().isEmpty() ? "" : ": " + path.text();
          out.line("      %d x %s%s".formatted(path.holders(), path.holding().words(), text));
        }
      }
      out.line("  Ways through native memory are not in a heap dump.").flush();
      return ExitCode.OK;
    } catch (IOException e) {
      throw new Failure(ExitCode.FAILED, String.valueOf(e.getMessage()));
    }
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
      List<String> parameters = new ArrayList<>();
      if (pause != null) {
        parameters.add("pause=" + pause);
      }
      if (total != null) {
        parameters.add("total=" + total);
      }
      String given = parameters.isEmpty() ? "" : "?" + String.join("&", parameters);
      return source.owners("owners/%d,%d%s".formatted(site, links, given));
    } finally {
      progress.end();
    }
  }

  private static void show(Json report, Output out) throws Exception {
    out.line(report.at("explanation").text());
    for (Json way : report.at("ways").list()) {
      out.line(
          "  %d of %d (%s to %s) %s%s%s"
              .formatted(
                  (long) way.at("samples").number(),
                  (long) report.at("samples").number(),
                  Words.share(way.at("shareLow").number()),
                  Words.share(way.at("shareHigh").number()),
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
    List<Json> pauses = report.at("pauseSeconds").list();
    out.line(
        String.format(
            Locale.ROOT,
            "  %d pauses, %.2f s in all, the longest %.2f s.",
            pauses.size(),
            pauses.stream().mapToDouble(Json::number).sum(),
            pauses.stream().mapToDouble(Json::number).max().orElse(0)));
  }
}
