package io.mallometer.agent.command;

import io.mallometer.internal.text.HumanText;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Compares two reports. */
@Command(
    name = "diff",
    description = {
      "Compares two files that report --format json (or table) wrote: of one process at two times,"
          + " or of two processes. Call sites with the same name and library count as one."
    })
final class DiffCommand implements Callable<Integer> {

  @Parameters(index = "0", paramLabel = "BEFORE", description = "the earlier report")
  private Path before = Path.of("");

  @Parameters(index = "1", paramLabel = "AFTER", description = "the later report")
  private Path after = Path.of("");

  @Option(names = "--limit", defaultValue = "20", description = "how many call sites to show")
  private int limit = 20;

  private record Line(String name, double before, double after) {
    double growth() {
      return orZero(after) - orZero(before);
    }

    private static double orZero(double known) {
      return Double.isNaN(known) ? 0 : known;
    }
  }

  @Override
  public Integer call() throws Exception {
    Json first = read(before);
    Json second = read(after);
    Output out = Output.standard();
    section(out, "resident", lines(parts(first), parts(second), Integer.MAX_VALUE));
    section(out, "live, by call site", lines(sites(first), sites(second), limit));
    out.flush();
    return ExitCode.OK;
  }

  private static Json read(Path file) throws Failure, IOException {
    try {
      Json json = Json.parse(Files.readString(file, StandardCharsets.UTF_8));
      if (json.at("sites").present()) {
        return json;
      }
    } catch (IllegalArgumentException | CharacterCodingException e) {
      // The statement after this block reports that the file is not a report.
    } catch (NoSuchFileException e) {
      throw new Failure(ExitCode.FAILED, file + " does not exist");
    }
    throw new Failure(
        ExitCode.UNREADABLE, file + " is not a report; mallometer report --format json writes one");
  }

  private static Map<String, Double> parts(Json report) {
    Map<String, Double> parts = new LinkedHashMap<>();
    Json breakdown = report.at(Overview.ROOT, "memory", "resident", "parts");
    for (String part : breakdown.names()) {
      parts.put(part, breakdown.at(part).number());
    }
    return parts;
  }

  /** Returns the live bytes of the call sites in a report, or in a table of call sites. */
  private static Map<String, Double> sites(Json report) {
    Json nested = report.at("sites", "sites");
    List<Json> list = nested.present() ? nested.list() : report.at("sites").list();
    Map<String, Double> sites = new LinkedHashMap<>();
    for (Json site : list) {
      String name = site.at("name").text();
      String library = site.at("library").text();
      String key = name.startsWith(library + "!") ? name : name + "  (" + library + ")";
      sites.merge(key, site.at("liveBytes").estimate(), Double::sum);
    }
    return sites;
  }

  private static List<Line> lines(Map<String, Double> before, Map<String, Double> after, int most) {
    Set<String> names = new LinkedHashSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream()
        .map(
            name ->
                new Line(
                    name,
                    before.getOrDefault(name, Double.NaN),
                    after.getOrDefault(name, Double.NaN)))
        .filter(line -> line.growth() != 0)
        .sorted(Comparator.comparingDouble((Line line) -> -Math.abs(line.growth())))
        .limit(most)
        .toList();
  }

  private static void section(Output out, String title, List<Line> lines) throws IOException {
    out.line(
        Text.right("change", 12)
            + Text.right("before", 12)
            + Text.right("after", 12)
            + "  "
            + title);
    if (lines.isEmpty()) {
      out.line("        none");
    }
    for (Line line : lines) {
      out.line(
          Text.right(HumanText.change(line.growth()), 12)
              + Text.right(HumanText.bytes(line.before()), 12)
              + Text.right(HumanText.bytes(line.after()), 12)
              + "  "
              + Text.plain(line.name()));
    }
  }
}
