package io.mallometer.junit;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.internal.text.HumanText;
import io.mallometer.junit.ThisProcess.Watch;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.ScopeOptions;
import io.mallometer.model.SizeDistribution;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;

/**
 * The monitors of one test, until {@link #end()}. The library counts and stores requests. A thread
 * of this class checks the live bytes of the process and writes the CSV file, if the annotation
 * requests these.
 */
final class Monitored {

  private static final String HEAD =
      "milliseconds,live_bytes,peak_bytes,allocations,frees,requested_bytes\n";
  private static final String NO_BEGINNING =
      "live bytes at the beginning of the test are unknown, because counting was off before, or"
          + " began with an attach that could not tell them";
  private static final long LOOK_MILLIS = 10;
  private static final int MOST_REQUESTS = 10;

  private final Mallometer mallometer;
  private final MonitorNative wanted;
  private final NativeScope scope;
  private final Optional<NativeScope> whole;
  private final double liveBefore;
  private final List<Mallometer.Subscription> subscriptions = new ArrayList<>();
  private final List<MonitorEvent> requests = Collections.synchronizedList(new ArrayList<>());
  private final Optional<SizeDistribution> returnedBefore;
  private final Class<?> test;
  private final Optional<Watch> look;
  private final Optional<LiveReading> before;
  private final Optional<Path> rows;
  private final long begin = System.nanoTime();
  private final CountDownLatch ending = new CountDownLatch(1);
  private final @Nullable Thread watcher;

  /**
   * Written by the watcher thread. Other threads use this list only after that thread has ended.
   */
  private List<Kept> holders = List.of();

  private boolean sawExceeded;
  private String trouble = "";

  /**
   * Begins to monitor.
   *
   * @param of selects the threads to monitor; may differ from the annotation's value if tests run
   *     in parallel
   * @param look reads call sites for monitors that report stacks; {@link #end} closes it
   * @param rows the CSV file; empty for none
   * @throws IllegalStateException with the reason, if monitoring is impossible
   */
  Monitored(
      Mallometer mallometer,
      MonitorNative wanted,
      Of of,
      Class<?> test,
      Optional<Watch> look,
      Optional<Path> rows) {
    this.mallometer = mallometer;
    this.test = test;
    this.look = look;
    this.before = look.map(Watch::read);
    this.wanted = wanted;
    this.rows = rows;
    this.liveBefore = mallometer.poll().process().map(NativeCounters::liveBytes).orElse(Double.NaN);
    if (wanted.threshold() != MonitorNative.NONE) {
      MonitorOptions threshold = MonitorOptions.threshold(wanted.threshold());
      listen(of == Of.TEST ? threshold.withThread(kernelThread()) : threshold);
    }
    if (wanted.sizes()) {
      subscriptions.add(mallometer.monitors().start(MonitorOptions.usableSizes()));
    }
    this.returnedBefore = mallometer.monitors().returnedSizes();
    this.whole =
        wanted.liveSize() == MonitorNative.NONE
            ? Optional.empty()
            : Optional.of(mallometer.counting().processScope());
    this.scope =
        of == Of.TEST
            ? mallometer
                .counting()
                .threadScope(ScopeOptions.defaults().withMatched(wanted.matched()))
            : mallometer.counting().processScope();
    if (scope.figures().counts().isEmpty()) {
      String reason = scope.figures().reason();
      end();
      throw new IllegalStateException("not counted: " + reason);
    }
    this.watcher = whole.isPresent() || rows.isPresent() ? watching() : null;
  }

  private void listen(MonitorOptions options) {
    Mallometer.Subscription listening =
        mallometer
            .monitors()
            .onEvent(
                event -> {
                  if (event.monitor() == options) {
                    requests.add(event);
                  }
                });
    Mallometer.Subscription started = mallometer.monitors().start(options);
    subscriptions.addAll(List.of(started, listening));
    if (!started.reason().isEmpty()) {
      subscriptions.forEach(Mallometer.Subscription::close);
      look.ifPresent(Watch::close);
      throw new IllegalStateException("requests are not watched: " + started.reason());
    }
  }

  private static int kernelThread() {
    try {
      return Integer.parseInt(
          Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString());
    } catch (IOException | RuntimeException e) {
      throw new IllegalStateException("the thread's number is not known: " + e, e);
    }
  }

  // ---- The watcher thread

  private Thread watching() {
    Thread thread = new Thread(this::watch, "mallometer-junit-monitor");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void watch() {
    long period = wanted.csvMillis() > 0 ? wanted.csvMillis() : LOOK_MILLIS;
    long pause = whole.isPresent() ? Math.min(period, LOOK_MILLIS) : period;
    long nextRow = 0;
    try {
      write(HEAD, false);
      boolean ended;
      do {
        ended = ending.await(pause, TimeUnit.MILLISECONDS);
        lookAtLiveBytes();
        if (ended || milliseconds() >= nextRow) {
          nextRow = milliseconds() + period;
          write(row(), true);
        }
      } while (!ended);
    } catch (IOException | RuntimeException e) {
      trouble = "The monitor of the test ended early: " + e;
    } catch (InterruptedException e) {
      trouble = "The monitor of the test was interrupted.";
    }
  }

  private long milliseconds() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
  }

  private void lookAtLiveBytes() {
    if (whole.isEmpty() || sawExceeded) {
      return;
    }
    double added = whole.flatMap(o -> o.figures().counts()).map(ScopeCounts::netBytes).orElse(0.0);
    if (liveBefore + added > wanted.liveSize()) {
      sawExceeded = true;
      holders = holders();
    }
  }

  private List<Kept> holders() {
    return look.orElseThrow().read().keptSince(LiveReading.ofProcess(0));
  }

  private String row() {
    return scope
        .figures()
        .counts()
        .map(
            counts ->
                String.format(
                    Locale.ROOT,
                    "%d,%s,%s,%d,%d,%d%n",
                    milliseconds(),
                    whole(counts.netBytes()),
                    whole(counts.peakBytes()),
                    counts.calls(),
                    counts.frees(),
                    counts.requestedBytes()))
        .orElse("");
  }

  private static String whole(double figure) {
    return Double.isNaN(figure) ? "" : Long.toString(Math.round(figure));
  }

  private void write(String text, boolean append) throws IOException {
    if (rows.isPresent()) {
      Path file = rows.get();
      if (append) {
        Files.writeString(file, text, StandardCharsets.US_ASCII, StandardOpenOption.APPEND);
      } else {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, text, StandardCharsets.US_ASCII);
      }
    }
  }

  // ---- Ending the monitors

  /** Ends the monitors and returns their findings, in lines. Must be called once. */
  String end() {
    try {
      return ended();
    } finally {
      look.ifPresent(Watch::close);
    }
  }

  private String ended() {
    scope.close();
    Optional<SizeDistribution> returned =
        mallometer
            .monitors()
            .returnedSizes()
            .flatMap(now -> returnedBefore.map(now::minus))
            .filter(counts -> wanted.sizes());
    whole.ifPresent(NativeScope::close);
    stopWatching();
    // Closing delivers the last requests to the listener.
    subscriptions.forEach(Mallometer.Subscription::close);
    if (exceeded() && !sawExceeded) {
      holders = holders();
    }
    List<Kept> requesting = requests.isEmpty() ? List.of() : requesting();
    return report(scope.figures(), returned, requesting);
  }

  private List<Kept> requesting() {
    return look.orElseThrow().read().allocatedSince(before.orElseThrow()).stream()
        .filter(site -> site.bytes() / site.objects() > wanted.threshold())
        .toList();
  }

  private void stopWatching() {
    ending.countDown();
    Thread thread = watcher;
    boolean wasInterrupted = false;
    while (thread != null && thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        // The test may interrupt this thread. The result of the watcher thread is still needed.
        wasInterrupted = true;
      }
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean exceeded() {
    double peak = whole.flatMap(o -> o.figures().counts()).map(ScopeCounts::peakBytes).orElse(0.0);
    return whole.isPresent()
        && (sawExceeded
            || liveBefore <= wanted.liveSize() && liveBefore + peak > wanted.liveSize());
  }

  /** Returns a line for each limit that could not be checked, because figures are unknown. */
  private List<String> unknown() {
    List<String> lines = new ArrayList<>();
    double net = scope.figures().counts().map(ScopeCounts::netBytes).orElse(Double.NaN);
    if (wanted.threshold() != MonitorNative.NONE && Double.isNaN(net)) {
      lines.add(unknown(wanted.threshold(), "were requested at once", scope.figures().reason()));
    }
    if (whole.isPresent() && !exceeded()) {
      ScopeFigures figures = whole.get().figures();
      double peak = figures.counts().map(ScopeCounts::peakBytes).orElse(Double.NaN);
      if (Double.isNaN(peak)) {
        lines.add(unknown(wanted.liveSize(), "became live", figures.reason()));
      } else if (Double.isNaN(liveBefore)) {
        lines.add(unknown(wanted.liveSize(), "became live", NO_BEGINNING));
      }
    }
    return lines;
  }

  private static String unknown(long limit, String happened, String reason) {
    return "Native memory: mallometer cannot tell whether more than %s %s: %s."
        .formatted(HumanText.bytes(limit), happened, reason);
  }

  /**
   * Fails with the report if a limit was exceeded or may have been exceeded. Does nothing if the
   * annotation requests only a report.
   */
  void check(String report) {
    if (wanted.failing() && (!requests.isEmpty() || exceeded() || !unknown().isEmpty())) {
      throw new AssertionFailedError(report);
    }
  }

  private String report(
      ScopeFigures figures, Optional<SizeDistribution> returned, List<Kept> requesting) {
    List<String> lines = new ArrayList<>();
    addRequests(lines, requesting);
    addHolders(lines);
    lines.addAll(unknown());
    lines.add(
        figures
            .counts()
            .map(Monitored::maximum)
            .orElseGet(() -> "The maximum is not known: " + figures.reason()));
    if (wanted.matched()) {
      lines.add(
          figures
              .matches()
              .map(
                  found ->
                      "Temporary: %s in %s objects; retained: %s in %s objects."
                          .formatted(
                              HumanText.bytes(found.temporaryBytes()),
                              HumanText.number(found.temporaryCalls()),
                              HumanText.bytes(found.retainedBytes()),
                              HumanText.number(found.retainedCalls())))
              .orElse("Temporary and retained memory are not known: " + figures.reason()));
    }
    if (wanted.sizes()) {
      figures.counts().ifPresent(counts -> addSizes(lines, counts.allocationsBySize(), returned));
    }
    if (!trouble.isEmpty()) {
      lines.add(trouble);
    }
    return String.join("\n", lines);
  }

  private void addRequests(List<String> lines, List<Kept> requesting) {
    if (requests.isEmpty()) {
      return;
    }
    lines.add(
        "Native memory: %d requests above %s%s."
            .formatted(
                requests.size(),
                HumanText.bytes(wanted.threshold()),
                requests.size() > MOST_REQUESTS ? ", of which the first follow" : ""));
    for (MonitorEvent event : requests.subList(0, Math.min(MOST_REQUESTS, requests.size()))) {
      lines.add("  " + event.sentence());
      event.details().stream()
          .filter(line -> !line.startsWith("call site "))
          .forEach(frame -> lines.add("      " + frame));
    }
    addStacks(lines, "Stacks that ask for so much", requesting);
  }

  private void addHolders(List<String> lines) {
    if (!exceeded()) {
      return;
    }
    lines.add(
        "Native memory: more than %s became live.%s"
            .formatted(
                HumanText.bytes(wanted.liveSize()),
                sawExceeded ? "" : " They were freed before the call sites could be read."));
    addStacks(lines, "Stacks that held most" + (sawExceeded ? "" : " at the end"), holders);
  }

  private void addStacks(List<String> lines, String title, List<Kept> stacks) {
    if (!stacks.isEmpty()) {
      lines.add(title + ":");
      lines.add(StackTree.of(stacks, test).stripTrailing());
    }
  }

  static String maximum(ScopeCounts counts) {
    return "Maximum: peak %s above the beginning, %s kept; %s allocations of %s requested, %s frees, %s failed; largest request %s."
        .formatted(
            HumanText.bytes(counts.peakBytes()),
            HumanText.change(counts.netBytes()),
            HumanText.number(counts.calls()),
            HumanText.bytes(counts.requestedBytes()),
            HumanText.number(counts.frees()),
            HumanText.number(counts.failed()),
            HumanText.bytes(counts.largestBytes()));
  }

  private static void addSizes(
      List<String> lines, SizeDistribution requested, Optional<SizeDistribution> returned) {
    lines.add("Allocations by size:        requested  returned (process)");
    for (int i = 0; i < SizeDistribution.CLASSES; i++) {
      int size = i;
      long asked = requested.count(i);
      long got = returned.map(counts -> counts.count(size)).orElse(0L);
      if (asked != 0 || got != 0) {
        lines.add(
            "  %-22s %12d  %8s"
                .formatted(
                    i == SizeDistribution.CLASSES - 1
                        ? "more"
                        : "up to " + HumanText.bytes(SizeDistribution.upperBound(i)),
                    asked,
                    returned.isPresent() ? Long.toString(got) : "unknown"));
      }
    }
  }
}
