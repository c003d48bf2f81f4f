package io.mallometer.agent.command;

import io.mallometer.internal.text.Words;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What {@code top} shows: one reading, and what changed since the one before. */
final class Board {

  /** By which column rows are sorted. */
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

  /** A narrow terminal has room for two figures only, a low one for call sites only. */
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
  private Json breakdown = root;
  private Json libraries = root;
  private Json sites = root;

  /** By name: live bytes at the reading before. */
  private Map<String, Double> liveBefore = new HashMap<>();

  private double residentBefore = Double.NaN;
  private double mallocBefore = Double.NaN;
  private double secondsBetween = Double.NaN;

  /**
   * An empty board.
   *
   * @param name of the process
   * @param target as the user gave it
   */
  Board(String name, String target) {
    this.name = name;
    this.target = target;
  }

  /** What can be done about a process that is not counted; empty if it is. */
  String offer() {
    return Target.offer(target, root);
  }

  /** Reads anew. What changed is kept while the process itself has nothing new. */
  void read(Source source) throws Failure, IOException {
    Json read = source.get("nativememory").json();
    double seconds = seconds(root.at("time").text(), read.at("time").text());
    if (seconds == 0) {
      return;
    }
    secondsBetween = seconds;
    Map<String, Double> live = new HashMap<>();
    keep(live, libraries.at("groups").list());
    keep(live, sites.at("groups").list());
    liveBefore = live;
    residentBefore = breakdown.at("residentBytes").number();
    mallocBefore = root.at("counters", "liveBytes").number();
    root = read;
    breakdown = source.get("breakdown").json();
    libraries = source.get("sites?group=library&limit=" + MOST_ROWS).json();
    sites = source.get("sites?group=site&limit=" + MOST_ROWS).json();
  }

  private static double seconds(String before, String after) {
    try {
      return Duration.between(Instant.parse(before), Instant.parse(after)).toMillis() / 1e3;
    } catch (DateTimeException e) {
      return Double.NaN;
    }
  }

  private static void keep(Map<String, Double> live, List<Json> rows) {
    for (Json row : rows) {
      live.put(row.at("key").text(), row.at("liveBytes").estimate());
    }
  }

  /** One line, for what is no terminal. */
  String line() {
    List<Row> rows = rows(sites, Sort.LIVE);
    return "%s resident %s malloc-live %s growth %s/s top %s"
        .formatted(
            root.at("time").text(),
            Words.bytes(breakdown.at("residentBytes").number()),
            Words.bytes(root.at("counters", "liveBytes").number()),
            Words.change(mallocGrowth()),
            rows.isEmpty()
                ? "-"
                : Text.plain(rows.get(0).name()) + " " + Words.bytes(rows.get(0).live()));
  }

  private double mallocGrowth() {
    return (root.at("counters", "liveBytes").number() - mallocBefore) / secondsBetween;
  }

  /** Exactly as many lines as fit, none longer than the width. */
  List<String> lines(int width, int height, Sort sort) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s  %s  resident %s (%s/s)  malloc live %s (%s/s)"
            .formatted(
                name,
                root.at("state").text(),
                Words.bytes(breakdown.at("residentBytes").number()),
                Words.change(
                    (breakdown.at("residentBytes").number() - residentBefore) / secondsBetween),
                Words.bytes(root.at("counters", "liveBytes").number()),
                Words.change(mallocGrowth())));
    if (root.at("state").text().equals("ACTIVE")) {
      lines.add(beginning());
    } else {
      String offer = offer();
      lines.add(offer.isEmpty() ? Target.reason(root) : offer);
    }
    split(lines, width, Math.max(1, height / 6));
    lines.add("");
    if (height >= LOW) {
      table(lines, "library", libraries, width, (height - lines.size()) / 3, sort);
      lines.add("");
    }
    table(lines, "call site", sites, width, Math.max(0, height - lines.size() - 2), sort);
    while (lines.size() < height - 1) {
      lines.add("");
    }
    List<String> shown = new ArrayList<>(lines.subList(0, Math.max(0, height - 1)));
    shown.add("sort by " + sort.title + "   b live  g growth  r rate  o objects   q ends");
    return shown.stream().map(line -> Text.left(line, width)).toList();
  }

  /** How it began to count, with what it misses. */
  private String beginning() {
    return Stream.of(
            Target.mode(root), Target.gaps(root), root.at("allocatedBefore", "text").text())
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining("; "));
  }

  private void split(List<String> lines, int width, int most) {
    StringBuilder line = new StringBuilder();
    int before = lines.size();
    List<Json> parts =
        breakdown.at("parts").list().stream()
            .sorted(Comparator.comparingDouble((Json part) -> -part.at("bytes").number()))
            .toList();
    for (Json part : parts) {
      String cell = part.at("part").text() + " " + Words.bytes(part.at("bytes").number()) + "   ";
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
      List<String> lines, String title, Json groups, int width, int rows, Sort sort) {
    boolean wide = width >= NARROW;
    int names = width - (wide ? 4 : 2) * COLUMN - 2;
    lines.add(
        cell("live")
            + cell("growth/s")
            + (wide ? cell("rate/s") + cell("objects") : "")
            + "  "
            + title);
    for (Row row : rows(groups, sort).stream().limit(rows).toList()) {
      lines.add(
          cell(Words.bytes(row.live()))
              + cell(Words.change(row.growth()))
              + (wide ? cell(Words.bytes(row.rate())) + cell(Words.number(row.objects())) : "")
              + "  "
              + Text.cutLeft(row.name(), Math.max(1, names)));
    }
  }

  private static String cell(String text) {
    return Text.right(text, COLUMN);
  }

  private List<Row> rows(Json groups, Sort sort) {
    return groups.at("groups").list().stream()
        .map(
            group ->
                new Row(
                    group.at("key").text(),
                    group.at("liveBytes").estimate(),
                    (group.at("liveBytes").estimate()
                            - liveBefore.getOrDefault(group.at("key").text(), Double.NaN))
                        / secondsBetween,
                    group.at("bytesPerSecond").number(),
                    group.at("liveObjects").estimate()))
        .sorted(Comparator.comparingDouble((Row row) -> -row.by(sort)))
        .toList();
  }
}
