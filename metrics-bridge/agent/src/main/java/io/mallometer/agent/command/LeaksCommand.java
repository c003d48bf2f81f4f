package io.mallometer.agent.command;

import io.mallometer.internal.text.HumanText;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints the verdicts on call sites, with the observations behind them. */
@Command(
    name = "leaks",
    description =
        "Shows call sites that leak, are unused, grow, wait for a collection or keep a pool, with the"
            + " evidence.")
final class LeaksCommand implements Callable<Integer> {

  private static final int FRAMES = 6;
  private static final long PACE_MILLIS = 30_000;

  @Mixin private Target target = new Target();

  @Option(names = "--all", description = "show healthy call sites too")
  private boolean all;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description =
          "first watch for this time, such as 10m; a JVM without the agent and the starter is"
              + " observed only during the command")
  private @Nullable String duration;

  @Option(names = "--json", description = "as JSON")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    Duration span = duration == null ? Duration.ZERO : Target.span("--duration", duration);
    try (Source source = target.open()) {
      long began = System.nanoTime();
      String beginning = beginning(counting(source));
      watch(source, span);
      Source.Reply reply = asked(source);
      Output out = Output.standard();
      if (json) {
        out.copy(reply.body());
        out.line("").flush();
        return ExitCode.OK;
      }
      List<Json> sites = reply.json().list();
      Duration observed = Duration.ofNanos(System.nanoTime() - began);
      boolean fresh = target.isProcess() && !source.get("facts").json().at("observed").truth();
      if (fresh) {
        out.line(onlyWhileAsked(source.name(), observed));
      }
      if (!beginning.isEmpty()) {
        out.line(beginning);
      }
      if (sites.isEmpty()) {
        out.line(
            fresh
                ? "Too early to tell whether a call site leaks. A verdict takes minutes of"
                    + " observation; use --duration."
                : "No call site has the verdict leak, unused, growing, waits_for_gc or pool.");
      }
      for (Json site : sites) {
        show(site, out);
      }
      out.flush();
    }
    return ExitCode.OK;
  }

  /**
   * Returns the view {@code nativememory}. Fails if the JVM does not count, because an empty list
   * would look like a process without leaks.
   */
  private Json counting(Source source) throws Failure, IOException {
    Json root = source.get("nativememory").json();
    if (!root.at("status", "state").text().equals("ACTIVE")) {
      String offer = Target.offer(target.given(), root);
      throw new Failure(
          ExitCode.NOT_THERE,
          offer.isEmpty()
              ? "%s does not count: %s".formatted(source.name(), Target.reason(root))
              : "%s is %s; verdicts follow some minutes later".formatted(source.name(), offer));
    }
    return root;
  }

  /**
   * Returns a line on how counting began and on which allocations were not counted; empty if
   * counting began with the process.
   */
  private static String beginning(Json root) {
    String before = root.at("process", "allocatedBefore", "sentence").text();
    if (before.isEmpty()) {
      return "";
    }
    String gaps = Target.gaps(root);
    return Text.plain(
        "%s: objects from before are not judged; %s%s"
            .formatted(Target.mode(root), before, gaps.isEmpty() ? "" : "; " + gaps));
  }

  private static String onlyWhileAsked(String name, Duration observed) {
    return Text.plain(name)
        + " was started without the agent and is observed only during this command, so far for "
        + HumanText.duration(observed)
        + ". Watch for longer with --duration 10m, or start it with"
        + " -javaagent:mallometer-agent.jar or the starter to observe it from the start.";
  }

  /**
   * Sends a question every 30 s, because the JVM stops observing two minutes after the last
   * question.
   */
  private static void watch(Source source, Duration span) throws Exception {
    long end = System.nanoTime() + span.toNanos();
    Progress progress = Progress.begin("watching " + source.name(), span);
    try {
      for (long left = span.toMillis(); left > 0; left = (end - System.nanoTime()) / 1_000_000) {
        source.get("nativememory").body().close();
        Thread.sleep(Math.min(left, PACE_MILLIS));
      }
    } finally {
      progress.end();
    }
  }

  private Source.Reply asked(Source source) throws Failure, IOException {
    try {
      return source.get(all ? "leaks?all=true" : "leaks");
    } catch (Failure e) {
      throw e.exitCode() == ExitCode.NOT_THERE
              && String.valueOf(e.getMessage()).startsWith("there is no")
          ? new Failure(
              ExitCode.NOT_THERE,
              source.name()
                  + " has no leak evidence in this version; report --duration 5m shows the call"
                  + " sites that grew")
          : e;
    }
  }

  private static void show(Json site, Output out) throws IOException {
    String name = site.at("site", "name").text();
    Json suspected = site.at("suspected", "bytes");
    out.line(
        "%-8s %s  suspected %s (%s), confidence %s"
            .formatted(
                site.at("verdict").text(),
                name,
                HumanText.bytes(suspected.at("value").number()),
                HumanText.interval(
                    suspected.at("value").number(),
                    suspected.at("low").number(),
                    suspected.at("high").number()),
                HumanText.share(site.at("grounds", "confidence").number())));
    out.line("         " + Text.plain(site.at("sentence").text()));
    for (String frame : Text.stack(site.at("site", "frames").texts(), name, FRAMES)) {
      out.line("           " + Text.plain(frame));
    }
  }
}
