package io.mallometer.internal.history;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.CallSites;
import io.mallometer.model.KeptMoment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A recording as text for people: the process, how it ended, and its memory before that. */
public final class RecordingReport {

  /**
   * The time between two rows of the table. It is longer for rows that are farther from the end of
   * the run.
   */
  private enum Resolution {
    SECONDS(Duration.ofMinutes(1), Duration.ofSeconds(1)),
    TENS(Duration.ofMinutes(10), Duration.ofSeconds(10)),
    MINUTES(Duration.ofHours(1), Duration.ofMinutes(1)),
    TEN_MINUTES(Duration.ofDays(2), Duration.ofMinutes(10));

    final long untilNanos;
    final long stepNanos;

    Resolution(Duration until, Duration step) {
      untilNanos = until.toNanos();
      stepNanos = step.toNanos();
    }

    static long stepAt(long fromEndNanos) {
      for (Resolution resolution : values()) {
        if (fromEndNanos <= resolution.untilNanos) {
          return resolution.stepNanos;
        }
      }
      return TEN_MINUTES.stepNanos;
    }
  }

  /**
   * A shift of the wall clock against the monotonic clock by more than this, between two samples,
   * shows that the clock was set or the machine slept. Gradual correction shifts the clock by less
   * within a minute.
   */
  private static final long CLOCK_WAS_SET_NANOS = 2_000_000_000L;

  /**
   * Java records a text about the memory every minute. If the latest text is older than this at the
   * end of the run, the report mentions its age.
   */
  private static final Duration JAVA_IS_LATE = Duration.ofMinutes(2);

  private final RecordedLife life;
  private final StringBuilder text = new StringBuilder();

  private final MemoryText latest;

  private RecordingReport(RecordedLife life) {
    this.life = life;
    this.latest = life.parts().latest().map(RecordedText::text).orElseGet(MemoryText::new);
  }

  /**
   * Returns the report on a file.
   *
   * @throws UnreadableRecordingException if the file is no recording, or has another version
   */
  public static String of(Path file) throws IOException {
    RecordedLife life = RecordedLife.read(file);
    PostMortem aftermath = PostMortem.of(life, PostMortem.inUse(file));
    RecordingReport report = new RecordingReport(life);
    report.line("Recording %s", file);
    String text = report.write(aftermath);
    return text + others(file);
  }

  static String of(RecordedLife life, PostMortem aftermath) {
    return new RecordingReport(life).write(aftermath);
  }

  private String write(PostMortem aftermath) {
    header();
    ending(aftermath);
    lateJava();
    damage();
    leaks();
    parts();
    table();
    allocator();
    hugeRequests();
    budget();
    exceeded();
    profiles();
    return text.toString();
  }

  private void header() {
    RecordedLife.Header header = life.header();
    line("  process    %d, %s", header.pid(), header.executable());
    life.jvm()
        .ifPresent(
            jvm ->
                line(
                    "  JVM        %s %s",
                    jvm.word("vm-name").orElse("?"), jvm.word("vm-version").orElse("?")));
    line("  mallometer %s over %s", header.library().build(), header.library().allocator());
    attach();
    line("  started    %s", HumanText.date(header.started()));
    if (!life.empty()) {
      line(
          "  last entry %s, after %s",
          HumanText.date(life.last().time()), HumanText.duration(life.duration()));
    }
  }

  private void attach() {
    latest
        .word("baseline")
        .ifPresent(
            before ->
                line(
                    "  attached   %s; %s",
                    latest.word("since").map(RecordingReport::time).orElse("?"), before));
  }

  private void ending(PostMortem aftermath) {
    heading("This process %s.", ExitDiagnosis.of(life, aftermath).sentence());
  }

  private void lateJava() {
    if (life.empty() || life.parts().minutes().isEmpty()) {
      return;
    }
    RecordedText latest = life.parts().minutes().get(life.parts().minutes().size() - 1);
    Duration late = Duration.ofNanos(life.last().monotonicNanos() - latest.monotonicNanos());
    if (late.compareTo(JAVA_IS_LATE) > 0) {
      line(
          "Java wrote nothing in its last %s: the JVM hung, or mallometer's poller had stopped.",
          HumanText.duration(late));
    }
  }

  private void damage() {
    if (life.damage().truncated()) {
      line("The file was truncated; the missing records are left out.");
    }
    if (life.damage().tornRecords() > 0) {
      line(
          life.damage().tornRecords() == 1
              ? "1 record was torn and is left out."
              : life.damage().tornRecords() + " records were torn and are left out.");
    }
  }

  // ---- The table of samples

  private void table() {
    List<Sample> rows = rows();
    if (rows.isEmpty()) {
      return;
    }
    line("");
    row("UTC", "malloc live", "objects", "allocated/s", "resident", "charged", "of limit", "kills");
    Optional<Sample> previous = Optional.empty();
    for (Sample sample : rows) {
      previous.ifPresent(before -> clock(before, sample));
      row(
          HumanText.time(sample.time()),
          HumanText.bytes(sample.malloc().liveBytes()),
          HumanText.number(sample.malloc().liveObjects()),
          previous.map(before -> rate(before, sample)).orElse("-"),
          HumanText.bytes(sample.residentBytes()),
          HumanText.bytes(sample.cgroup().chargedBytes()),
          HumanText.share(sample.cgroup().shareOfLimit()),
          HumanText.number(sample.cgroup().oomKills()));
      previous = Optional.of(sample);
    }
  }

  /**
   * Returns the samples for the table: many from the last minutes of the run, few from before, and
   * always the first and the last.
   */
  private List<Sample> rows() {
    List<Sample> rows = new ArrayList<>();
    List<Sample> all = new ArrayList<>(life.samples());
    life.end().exit().ifPresent(all::add);
    long end = all.isEmpty() ? 0 : all.get(all.size() - 1).monotonicNanos();
    long next = Long.MAX_VALUE;
    for (int i = all.size() - 1; i >= 0; i--) {
      Sample sample = all.get(i);
      long fromEnd = end - sample.monotonicNanos();
      // A sample may come early by a tenth of the step, because samples do not come exactly at full
      // seconds.
      if (rows.isEmpty() || i == 0 || fromEnd >= next) {
        rows.add(0, sample);
        long step = Resolution.stepAt(fromEnd);
        next = fromEnd + step - step / 10;
      }
    }
    return rows;
  }

  private void clock(Sample before, Sample after) {
    long moved = after.clockOffsetNanos() - before.clockOffsetNanos();
    if (Math.abs(moved) > CLOCK_WAS_SET_NANOS) {
      line(
          "          the clock was set %s by %s, or the machine slept",
          moved > 0 ? "forward" : "back", HumanText.duration(Duration.ofNanos(Math.abs(moved))));
    }
  }

  private static String rate(Sample before, Sample after) {
    double seconds = (after.monotonicNanos() - before.monotonicNanos()) / 1e9;
    double bytes = after.malloc().allocatedBytes() - before.malloc().allocatedBytes();
    return seconds > 0 ? HumanText.bytes(Math.max(0, bytes / seconds)) : "-";
  }

  private void row(Object... cells) {
    line("%-10s%12s%11s%13s%12s%12s%10s%7s", cells);
  }

  // ---- Texts on the parts of the memory

  private void leaks() {
    List<List<String>> leaks = latest.all("leak").stream().filter(leak -> leak.size() > 4).toList();
    if (leaks.isEmpty()) {
      return;
    }
    heading("Leaks");
    for (List<String> leak : leaks) {
      line("  %s  a leak since %s", leak.get(4), time(leak.get(3)));
    }
  }

  private void parts() {
    Optional<RecordedText> latest = life.parts().latest();
    if (latest.isEmpty()) {
      return;
    }
    RecordedText last = latest.get();
    RecordedText first = life.parts().minutes().isEmpty() ? last : life.parts().minutes().get(0);
    heading(
        first == last
            ? "Where the memory was at " + HumanText.time(last.time())
            : "Where the memory was at "
                + HumanText.time(last.time())
                + ", and the change since "
                + HumanText.time(first.time()));
    String split = last.text().word("split-time").map(RecordingReport::time).orElse("?");
    section("resident, split at " + split, "part", first, last);
    section("charged to the cgroup", "charged", first, last);
    section("malloc live by library, estimated from samples", "library", first, last);
    section("malloc live by call site, estimated from samples", "site", first, last);
    events(last.text());
  }

  private void section(String title, String table, RecordedText first, RecordedText last) {
    Map<String, Long> now = last.text().table(table);
    Map<String, Long> before = first.text().table(table);
    if (now.isEmpty()) {
      return;
    }
    int most = MemoryLines.most(table);
    line("  %s", title);
    now.entrySet().stream()
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .forEach(
            part ->
                line(
                    "    %-" + width(now) + "s%12s%12s%s",
                    part.getKey(),
                    HumanText.bytes(part.getValue()),
                    first == last
                        ? ""
                        : HumanText.change(
                            part.getValue() - GrowthLine.before(part.getKey(), before, most)),
                    first == last ? "" : newcomer(part.getKey(), before, most)));
  }

  private static String newcomer(String name, Map<String, Long> before, int most) {
    return before.containsKey(name) ? "" : before.size() < most ? ", new" : " at least";
  }

  private static int width(Map<String, Long> table) {
    return table.keySet().stream().mapToInt(String::length).reduce(20, Math::max);
  }

  private void events(MemoryText last) {
    Map<String, Long> events = last.table("event");
    if (!events.isEmpty()) {
      line("  events of the cgroup since it was made");
      events.forEach((event, count) -> line("    %-20s%12d", event, count));
    }
  }

  private void allocator() {
    if (latest.number("allocator-system-bytes").isEmpty()) {
      return;
    }
    heading("The allocator, %s", life.header().library().allocator());
    latest.number("allocator-arenas").ifPresent(arenas -> line("    %-20s%12d", "arenas", arenas));
    for (String figure : List.of("system", "used", "retained")) {
      latest
          .number("allocator-" + figure + "-bytes")
          .ifPresent(bytes -> line("    %-20s%12s", figure, HumanText.bytes(bytes)));
    }
  }

  private void hugeRequests() {
    List<List<String>> requests =
        latest.all("large").stream().filter(request -> request.size() > 3).toList();
    if (requests.isEmpty()) {
      return;
    }
    heading("The latest huge requests");
    for (List<String> request : requests) {
      line("  %s  %s by thread %s", time(request.get(1)), amount(request.get(2)), request.get(3));
    }
  }

  private static String time(String word) {
    try {
      return HumanText.time(Instant.parse(word));
    } catch (DateTimeException e) {
      return "?";
    }
  }

  private void budget() {
    List<List<String>> lines = latest.all("budget");
    if (lines.isEmpty()) {
      return;
    }
    heading("The most that this configuration may need: %s", latest.word("verdict").orElse("?"));
    for (List<String> item : lines) {
      if (item.size() > 4) {
        line("    %-20s%12s  %s, %s", item.get(1), amount(item.get(2)), item.get(3), item.get(4));
      }
    }
  }

  private static String amount(String word) {
    try {
      return HumanText.bytes(Long.parseLong(word));
    } catch (NumberFormatException e) {
      return "?";
    }
  }

  private void exceeded() {
    if (life.parts().exceeded().isEmpty()) {
      return;
    }
    heading("Shares of the limit that were exceeded");
    for (RecordedText text : life.parts().exceeded()) {
      line(
          "  %s  above %s %%: %s",
          HumanText.time(text.time()),
          text.text().word("threshold-percent").orElse("?"),
          largest(text.text()));
    }
  }

  private void profiles() {
    if (life.profiles().isEmpty()) {
      return;
    }
    heading("Stored call sites (report FILE --format flamegraph --at peak, 85, 90 or 95)");
    for (KeptMoment moment : life.profiles().keySet()) {
      try {
        CallSites sites = life.profile(moment);
        line("  %s  %s: %s", HumanText.time(sites.time()), moment.sentence(), largest(sites));
      } catch (IOException e) {
        line("  %s: torn", moment.sentence());
      }
    }
  }

  private static String largest(CallSites sites) {
    double live = sites.sites().stream().mapToDouble(site -> site.liveBytes().value()).sum();
    return sites.sites().stream()
        .limit(3)
        .map(site -> site.name() + " " + HumanText.bytes(site.liveBytes().value()))
        .collect(Collectors.joining(", ", HumanText.bytes(live) + " live, of which ", ""));
  }

  /**
   * Returns the call sites of a moment in a recording.
   *
   * @throws UnreadableRecordingException if the file is not a recording of this version, or has no
   *     call sites of that moment
   */
  public static CallSites profile(Path file, KeptMoment moment) throws IOException {
    return RecordedLife.read(file).profile(moment);
  }

  private static String largest(MemoryText text) {
    List<String> named =
        text.table("part").entrySet().stream()
            .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
            .limit(4)
            .map(part -> part.getKey() + " " + HumanText.bytes(part.getValue()))
            .toList();
    return named.isEmpty() ? "no breakdown yet" : String.join(", ", named);
  }

  // ---- Earlier runs, and common methods

  private static String others(Path file) {
    StringBuilder others = new StringBuilder();
    for (String suffix : List.of(".previous", ".kept")) {
      Path other = Path.of(file + suffix);
      if (Files.isReadable(other)) {
        others.append(earlier(other));
      }
    }
    return others.isEmpty() ? "" : "\nEarlier runs\n" + others;
  }

  private static String earlier(Path other) {
    try {
      RecordedLife life = RecordedLife.read(other);
      Instant end = life.empty() ? life.header().started() : ExitDiagnosis.end(life);
      return "  %s  until %s: process %d %s%n"
          .formatted(
              other,
              HumanText.date(end),
              life.header().pid(),
              ExitDiagnosis.of(life, PostMortem.of(life, false)).sentence());
    } catch (IOException e) {
      return "  %s%n".formatted(e.getMessage());
    }
  }

  private void heading(String format, Object... arguments) {
    line("");
    line(format, arguments);
  }

  private void line(String format, Object... arguments) {
    String line = arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments);
    // Texts in the file may contain control characters, which a terminal would obey.
    text.append(line.replaceAll("[\\p{Cc}\\p{Cf}]", "?").stripTrailing()).append('\n');
  }
}
