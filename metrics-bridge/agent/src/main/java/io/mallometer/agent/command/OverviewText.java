package io.mallometer.agent.command;

import io.mallometer.internal.text.HumanText;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Formats an {@link Overview} as text for people. */
final class OverviewText {

  private static final int FRAMES = 4;
  private static final int NAME = 24;
  private static final int FIGURE = 12;

  private static final String PRELOAD = "LD_PRELOAD=";

  private final StringBuilder text = new StringBuilder();
  private final Overview overview;

  private OverviewText(Overview overview) {
    this.overview = overview;
  }

  /**
   * Returns the text of an overview.
   *
   * @param name the name of the process
   * @param target the process as the user named it
   */
  static String of(String name, String target, Overview overview) {
    OverviewText text = new OverviewText(overview);
    text.status(name, target);
    text.diagnosis();
    text.breakdown();
    text.cgroup();
    text.allocator();
    text.pools();
    text.sites();
    text.changes();
    return text.text.toString();
  }

  private void status(String name, String target) {
    Json root = overview.view(Overview.ROOT);
    line("Native memory of %s at %s", name, root.at("time").text());
    boolean active = root.at("status", "state").text().equals("ACTIVE");
    line(
        "%s: %s",
        root.at("status", "state").text(),
        active ? Target.mode(root) : root.at("status", "reason").text());
    String offer = Target.offer(target, root);
    String remedy = root.at("status", "remedy").text();
    if (!offer.isEmpty()) {
      line("  %s", offer);
      line("  to count from the start: %s", remedy.substring(Math.max(0, remedy.indexOf(PRELOAD))));
    } else if (!remedy.isEmpty()) {
      line("  what to do: %s", remedy);
    }
    Json counters = root.at("process");
    if (counters.present()) {
      line(
          "malloc live %s%s, peak %s; %s allocations, %s frees",
          HumanText.bytes(counters.at("liveBytes").number()),
          objects(counters.at("liveObjects").number()),
          HumanText.bytes(counters.at("peakBytes").number()),
          Text.number(counters.at("allocations").number()),
          Text.number(counters.at("frees").number()));
    }
    String before = counters.at("allocatedBefore", "sentence").text();
    if (!before.isEmpty()) {
      line("  %s", before);
    }
    String gaps = Target.gaps(root);
    if (!gaps.isEmpty()) {
      line("%s", gaps);
    }
    if (!root.at("self", "remark").text().isEmpty()) {
      line("remark: %s", root.at("self", "remark").text());
    }
  }

  /**
   * Returns the number of objects as the end of a sentence. The text is empty if the number is
   * unknown, for example after an attach.
   */
  private static String objects(double objects) {
    return Double.isNaN(objects) ? "" : " in " + Text.number(objects) + " objects";
  }

  private void diagnosis() {
    Json diagnosis = overview.view("diagnosis");
    String sentence = diagnosis.at("sentence").text();
    if (!sentence.isEmpty()) {
      line("%s", Text.diagnosis(diagnosis.at("state").text(), sentence));
      diagnosis.at("actions").texts().forEach(action -> line("  to do: %s", action));
    }
  }

  private void breakdown() {
    Json breakdown = overview.view(Overview.ROOT).at("memory", "resident");
    if (breakdown.at("parts").names().isEmpty()) {
      return;
    }
    double total = breakdown.at("totalBytes").number();
    line("");
    line("Resident %s, of which", HumanText.bytes(total));
    parts(breakdown.at("parts"), total);
    Json huge = breakdown.at("hugePages");
    if (huge.at("bytes").number() > 0) {
      line("  %s", huge.at("sentence").text());
    }
    for (Json behind :
        List.of(
            breakdown.at("threadStacks", "sentence"),
            breakdown.at("pageCache", "cachedSentence"))) {
      if (!behind.text().isEmpty()) {
        line("  %s", behind.text());
      }
    }
  }

  private void parts(Json parts, double total) {
    parts.names().stream()
        .sorted(Comparator.comparingDouble(part -> -parts.at(part).number()))
        .forEach(
            part ->
                line(
                    "  %s%s%s",
                    Text.left(part, NAME),
                    Text.right(HumanText.bytes(parts.at(part).number()), FIGURE),
                    Text.right(HumanText.share(parts.at(part).number() / total), FIGURE)));
  }

  private void cgroup() {
    Json cgroup = overview.view(Overview.ROOT).at("memory", "cgroup");
    Json budget = overview.view(Overview.ROOT).at("memory", "budget");
    if (cgroup.at("chargedBytes").present()) {
      line("");
      double limit = cgroup.at("limitBytes").number();
      line(
          "Charged to the cgroup %s, %s",
          HumanText.bytes(cgroup.at("chargedBytes").number()),
          Double.isNaN(limit) ? "which has no limit" : "limit " + HumanText.bytes(limit));
      parts(cgroup.at("parts"), cgroup.at("chargedBytes").number());
    }
    if (budget.at("verdict").present()) {
      line("");
      line("Budget: %s", budget.at("verdict").text());
    }
  }

  private void allocator() {
    Json allocator = overview.view(Overview.ROOT).at("allocator");
    if (!allocator.at("systemBytes").present()) {
      return;
    }
    line("");
    line(
        "Allocator %s: %s from the system, %s live, %s retained, at least %s could be trimmed",
        overview.view(Overview.ROOT).at("self", "allocator").text(),
        HumanText.bytes(allocator.at("systemBytes").number()),
        HumanText.bytes(allocator.at("usedBytes").number()),
        HumanText.bytes(allocator.at("retainedBytes").number()),
        HumanText.bytes(allocator.at("trimmableBytes").number()));
    for (Json advice : allocator.at("advice").list()) {
      line("  %s: %s", advice.at("reason").text(), advice.at("setting").text());
    }
  }

  private void pools() {
    for (Json pool : overview.view(Overview.ROOT).at("pools", "pools").list()) {
      line("");
      line("Pool: %s", pool.at("sentence").text());
      for (Json site : pool.at("bufferSites").list()) {
        poolFinding("suspect", site.at("sentence").text());
        poolFinding("lost", site.at("forgottenSentence").text());
      }
    }
  }

  private void poolFinding(String name, String sentence) {
    if (!sentence.isEmpty()) {
      line("  %s: %s", name, sentence);
    }
  }

  private void sites() {
    Json sites = overview.view("sites");
    String reason = sites.at("reading", "reason").text();
    if (!reason.isEmpty()) {
      line("");
      line("Call sites: %s", reason);
    }
    if (sites.at("sites").list().isEmpty()) {
      return;
    }
    line("");
    line(
        "%s%s%s%s  call site",
        Text.right("live", FIGURE),
        Text.right("resident", FIGURE),
        Text.right("per second", FIGURE + 2),
        Text.right("over", FIGURE));
    for (Json site : sites.at("sites").list()) {
      line(
          "%s%s%s%s  %s",
          Text.right(HumanText.bytes(site.at("liveBytes").estimate()), FIGURE),
          Text.right(HumanText.bytes(site.at("residentBytes").estimate()), FIGURE),
          Text.right(HumanText.bytes(site.at("bytesPerSecond").number()), FIGURE + 2),
          Text.right(over(site.at("rateSeconds").number()), FIGURE),
          site.at("name").text());
      stack(site);
    }
  }

  private static String over(double seconds) {
    return Double.isNaN(seconds) ? "" : HumanText.duration(Duration.ofSeconds(Math.round(seconds)));
  }

  private void changes() {
    Json changes = overview.view("changes");
    String reason = changes.at("reason").text();
    if (!reason.isEmpty()) {
      line("");
      line("%s", reason);
    }
    if (!changes.present() || changes.at("changes").list().isEmpty()) {
      return;
    }
    line("");
    line("Changed from %s to %s", changes.at("from").text(), changes.at("to").text());
    for (Json change : changes.at("changes").list()) {
      line(
          "%s  %s",
          Text.right(HumanText.change(change.at("liveBytesGrowth").number()), FIGURE),
          change.at("name").text());
    }
  }

  private void stack(Json site) {
    for (String frame : Text.stack(site.at("frames").texts(), site.at("name").text(), FRAMES)) {
      line("        %s", frame);
    }
  }

  private void line(String format, Object... arguments) {
    String line = arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments);
    text.append(Text.plain(line).stripTrailing()).append('\n');
  }
}
