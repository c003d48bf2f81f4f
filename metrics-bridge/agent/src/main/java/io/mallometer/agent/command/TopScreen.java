package io.mallometer.agent.command;

import io.mallometer.internal.text.HumanText;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The screen of {@code top}: the latest reading, and the growth over a minute or more. The first
 * screen shows the growth already if an agent in the process has recorded earlier readings.
 */
final class TopScreen {

  enum Sort {
    LIVE('b', "live"),
    GROWTH('g', "growth"),
    RATE('r', "rate"),
    OBJECTS('o', "objects");

    final char key;
    final String title;

    Sort(char key, String title) {
      this.key = key;
      this.title = title;
    }
  }

  private static final int COLUMN = 12;

  private static final String RESIDENT = "resident";
  private static final String MALLOC = "malloc";

  /**
   * Screens with fewer columns than this show two columns of numbers in a table instead of four.
   */
  private static final int NARROW = 80;

  private static final int LOW = 18;
  private static final int MOST_ROWS = 200;

  private record Row(String name, double live, double growth, double rate, double objects) {
    double by(Sort sort) {
      double value =
          switch (sort) {
            case LIVE -> live;
            case GROWTH -> growth;
            case RATE -> rate;
            case OBJECTS -> objects;
          };
      return Double.isNaN(value) ? Double.NEGATIVE_INFINITY : value;
    }
  }

  private final String name;
  private final String target;
  private Json root = Json.parse("{}");
  private Json diagnosis = root;
  private Json breakdown = root;
  private Json libraries = root;
  private Json sites = root;

  private final GrowthRates ofProcess = new GrowthRates();
  private final GrowthRates ofLibraries = new GrowthRates();
  private final GrowthRates ofSites = new GrowthRates();

  TopScreen(String name, String target) {
    this.name = name;
    this.target = target;
  }

  String offer() {
    return Target.offer(target, root);
  }

  /**
   * Reads the data of the process. The screen stays the same if the process has no newer reading.
   */
  void read(Source source) throws Failure, IOException {
    Json read = source.get("nativememory").json();
    String time = read.at("time").text();
    if (time.equals(root.at("time").text())) {
      return;
    }
    if (!root.at("time").present()) {
      remember(source);
    }
    root = read;
    diagnosis = diagnosis(source);
    breakdown = source.get("breakdown").json();
    libraries = source.get("sites?group=library&limit=" + MOST_ROWS).json();
    sites = source.get("sites?group=site&limit=" + MOST_ROWS).json();
    add(
        ofProcess,
        time,
        true,
        Map.of(
            RESIDENT,
            root.at("memory", "residentBytes").number(),
            MALLOC,
            root.at("process", "liveBytes").number()));
    add(ofLibraries, libraries);
    add(ofSites, sites);
  }

  private static Json diagnosis(Source source) throws IOException {
    try {
      return source.get("diagnosis").json();
    } catch (Failure e) {
      return Json.parse("{}"); // The process returns no diagnosis.
    }
  }

  /**
   * Adds the live bytes that an agent in the process recorded in the last minutes, so that the
   * growth is known without a wait.
   */
  private void remember(Source source) throws IOException {
    Json trends;
    try {
      trends = source.get("trends").json();
    } catch (Failure e) {
      return; // growth is known after a minute of readings
    }
    remember(trends, "libraries", ofLibraries);
    remember(trends, "sites", ofSites);
  }

  /**
   * Adds past values of the live bytes, taken from {@code trends}, to {@code growth}. The trends
   * contain only the libraries or call sites with the most live bytes or growth.
   */
  private static void remember(Json trends, String groups, GrowthRates growth) {
    List<Json> times = trends.at("times").list();
    // Leaves out the last time, which is the present: this command reads the present values itself.
    for (int i = 0; i < times.size() - 1; i++) {
      Map<String, Double> live = new HashMap<>();
      for (Json group : trends.at(groups).list()) {
        List<Json> history = group.at("history").list();
        if (history.size() == times.size()) {
          live.put(group.at("figures", "key").text(), history.get(i).number());
        }
      }
      growth.add(Instant.ofEpochMilli((long) times.get(i).number()), false, live);
    }
  }

  private static void add(GrowthRates growth, Json groups) {
    List<Json> rows = groups.at("groups").list();
    Map<String, Double> live = new HashMap<>();
    for (Json row : rows) {
      live.put(row.at("key").text(), row.at("liveBytes").estimate());
    }
    add(
        growth,
        groups.at("reading", "time").text(),
        groups.at("matching").number() <= rows.size(),
        live);
  }

  private static void add(
      GrowthRates growth, String time, boolean complete, Map<String, Double> figures) {
    try {
      growth.add(Instant.parse(time), complete, figures);
    } catch (DateTimeException e) {
      return; // The process has no reading yet.
    }
  }

  /** Returns the most important numbers in one line, for an output that is not a terminal. */
  String line() {
    List<Row> rows = rows(sites, ofSites, Sort.LIVE);
    return "%s %s resident %s malloc_live %s growth %s/min top %s"
        .formatted(
            root.at("time").text(),
            diagnosis.at("state").text(),
            HumanText.bytes(root.at("memory", "residentBytes").number()),
            HumanText.bytes(root.at("process", "liveBytes").number()),
            HumanText.change(growth(MALLOC)),
            rows.isEmpty()
                ? "-"
                : Text.plain(rows.get(0).name()) + " " + HumanText.bytes(rows.get(0).live()));
  }

  private double growth(String figure) {
    return ofProcess.perMinute(figure, GrowthRates.SHORTEST);
  }

  List<String> lines(int width, int height, Sort sort) {
    List<String> lines = new ArrayList<>();
    if (diagnosis.at("sentence").present()) {
      String sentence = Text.plain(diagnosis.at("sentence").text());
      lines.addAll(Text.wrapped(Text.diagnosis(diagnosis.at("state").text(), sentence), width));
    }
    lines.add(name + "  " + root.at("status", "state").text());
    lines.add(
        "resident %s (%s/min)  malloc live %s (%s/min)"
            .formatted(
                HumanText.bytes(root.at("memory", "residentBytes").number()),
                HumanText.change(growth(RESIDENT)),
                HumanText.bytes(root.at("process", "liveBytes").number()),
                HumanText.change(growth(MALLOC))));
    if (root.at("status", "state").text().equals("ACTIVE")) {
      lines.add(beginning());
    } else {
      String offer = offer();
      lines.add(offer.isEmpty() ? Target.reason(root) : offer);
    }
    split(lines, width, Math.max(1, height / 6));
    lines.add("");
    if (height >= LOW) {
      table(lines, "library", libraries, ofLibraries, width, (height - lines.size()) / 3, sort);
      lines.add("");
    }
    table(lines, "call site", sites, ofSites, width, Math.max(0, height - lines.size() - 2), sort);
    while (lines.size() < height - 1) {
      lines.add("");
    }
    List<String> shown = new ArrayList<>(lines.subList(0, Math.max(0, height - 1)));
    shown.add("sort by " + sort.title + "   b live  g growth  r rate  o objects   q ends");
    return shown.stream().map(line -> Text.left(line, width)).toList();
  }

  private String beginning() {
    return Stream.of(
            Target.mode(root),
            Target.gaps(root),
            root.at("process", "allocatedBefore", "sentence").text())
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining("; "));
  }

  private void split(List<String> lines, int width, int most) {
    StringBuilder line = new StringBuilder();
    int before = lines.size();
    Json parts = breakdown.at("parts");
    List<String> names =
        parts.names().stream()
            .sorted(Comparator.comparingDouble(part -> -parts.at(part).number()))
            .toList();
    for (String part : names) {
      String cell = part + " " + HumanText.bytes(parts.at(part).number()) + "   ";
      if (line.length() + cell.length() > width + 3) {
        lines.add(line.toString());
        line.setLength(0);
      }
      if (lines.size() - before == most) {
        return;
      }
      line.append(cell);
    }
    lines.add(line.toString());
  }

  private void table(
      List<String> lines,
      String title,
      Json groups,
      GrowthRates growth,
      int width,
      int rows,
      Sort sort) {
    boolean wide = width >= NARROW;
    int names = width - (wide ? 4 : 2) * COLUMN - 2;
    lines.add(
        cell("live")
            + cell("growth/min")
            + (wide ? cell("allocated/s") + cell("objects") : "")
            + "  "
            + title);
    for (Row row : rows(groups, growth, sort).stream().limit(rows).toList()) {
      lines.add(
          cell(HumanText.bytes(row.live()))
              + cell(HumanText.change(row.growth()))
              + (wide ? cell(HumanText.bytes(row.rate())) + cell(Text.number(row.objects())) : "")
              + "  "
              + Text.cutLeft(row.name(), Math.max(1, names)));
    }
  }

  private static String cell(String text) {
    return Text.right(text, COLUMN);
  }

  private static List<Row> rows(Json groups, GrowthRates growth, Sort sort) {
    return groups.at("groups").list().stream()
        .map(
            group ->
                new Row(
                    group.at("key").text(),
                    group.at("liveBytes").estimate(),
                    growth.perMinute(
                        group.at("key").text(), GrowthRates.shortest(group.at("liveBytes"))),
                    group.at("bytesPerSecond").number(),
                    group.at("liveObjects").estimate()))
        .sorted(Comparator.comparingDouble((Row row) -> -row.by(sort)))
        .toList();
  }
}
