package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.management.OperatingSystemMXBean;
import io.mallometer.Mallometer;
import io.mallometer.benchmarks.leaks.Kernels.Pace;
import io.mallometer.benchmarks.leaks.Kernels.Stated;
import io.mallometer.internal.leak.EvidenceTrace;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.SearchedObject;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.CallSite;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Observation;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Writes lines of JSON: the verdicts of each evaluation, the result of each search for lost memory,
 * and at each poll the true number of bytes that each piece of the program ({@link Stated}) has
 * leaked.
 */
final class VerdictLog implements AutoCloseable {

  private final Path file;
  private final Pace pace;
  private final List<Stated> stating;
  private final Mallometer mallometer;
  private final OperatingSystemMXBean system =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private final NativeLibrary library;
  private Instant latest = Instant.MIN;
  private int searches;

  VerdictLog(Path file, Pace pace, double scale, List<Stated> stating) {
    this.file = file;
    this.pace = pace;
    this.stating = stating;
    Duration interval = Duration.ofMillis((long) Math.max(200, 5000 / scale));
    this.mallometer =
        Mallometer.open(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, interval)
                .with(Setting.LEAK_TIME_SCALE, scale));
    mallometer.counting().attach();
    library = new ProcessLibrary();
    mallometer.onPoll(snapshot -> write(mallometer.leaks().report()));
  }

  private synchronized void write(LeakReport report) {
    if (!stating.isEmpty()) {
      append(truth());
    }
    if (report.time().equals(latest)) {
      return;
    }
    latest = report.time();
    append(moment(report));
    MemorySearch search = library.memorySearch();
    if (search.number() > searches && search.effort().endedNanos() != 0) {
      searches = search.number();
      append(text(search));
    }
  }

  private String moment(LeakReport report) {
    return String.format(
        Locale.ROOT,
        "{\"age\":%.1f,\"judged\":%d,\"observation\":%s,\"time\":\"%s\","
            + "\"processSeconds\":%.1f,\"stated\":{%s},\"sites\":[%s]}%n",
        pace.age().toMillis() / 1e3,
        report.sites().size(),
        quoted(text(report)),
        report.time(),
        system.getProcessCpuTime() / 1e9,
        stating.stream().map(Stated::statement).collect(Collectors.joining(",")),
        report.sites().stream()
            .filter(site -> site.verdict() != Verdict.HEALTHY)
            .map(VerdictLog::json)
            .collect(Collectors.joining(",")));
  }

  private String truth() {
    return String.format(
        Locale.ROOT,
        "{\"age\":%.1f,\"leaked\":{%s}}%n",
        pace.age().toMillis() / 1e3,
        stating.stream().map(Stated::leakedNow).collect(Collectors.joining(",")));
  }

  private String text(MemorySearch search) {
    return String.format(
        Locale.ROOT,
        "{\"age\":%.1f,\"search\":%d,\"state\":%s,\"cpuSeconds\":%.3f,\"seconds\":%.2f,"
            + "\"searched\":%d,\"resident\":%d,\"objects\":%d,\"lost\":%d}%n",
        pace.age().minusNanos(System.nanoTime() - search.effort().endedNanos()).toMillis() / 1e3,
        search.number(),
        quoted((search.state() + " " + search.reason()).strip()),
        search.effort().cpuSeconds(),
        (search.effort().endedNanos() - search.effort().beganNanos()) / 1e9,
        search.coverage().searchedBytes(),
        search.coverage().residentBytes(),
        search.objects().size(),
        search.objects().stream().filter(SearchedObject::lost).count());
  }

  private void append(String line) {
    try {
      Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(LeakReport report) {
    Observation seen = report.observation();
    return seen.state()
        + (seen.reason().isEmpty() ? "" : ": " + seen.reason())
        + ", "
        + seen.period().epochs()
        + " epochs, "
        + seen.period().voidEpochs()
        + " void, "
        + seen.placement().placed()
        + " objects placed, "
        + seen.placement().notPlaced()
        + " not"
        + (report.reason().isEmpty() ? "" : ", " + report.reason());
  }

  private static String json(SiteVerdict site) {
    return String.format(
        Locale.ROOT,
        "{\"verdict\":\"%s\",\"evidence\":\"%s\",\"number\":%d,\"site\":%s,\"sentence\":%s,\"confidence\":\"%.3f\",\"bytes\":\"%.0f\",\"low\":\"%.0f\",\"high\":\"%.0f\",\"threshold\":\"%.0f\","
            + "\"frames\":[%s],\"lastAccess\":[%s]}",
        site.verdict().name().toLowerCase(Locale.ROOT),
        site.grounds().evidence().name().toLowerCase(Locale.ROOT),
        site.site().number(),
        quoted(site.site().name()),
        quoted(site.sentence()),
        site.grounds().confidence(),
        site.suspected().bytes().value(),
        site.suspected().bytes().low(),
        site.suspected().bytes().high(),
        site.suspected().thresholdSeconds(),
        frames(site.site().frames()),
        frames(site.grounds().lastAccess().frames()));
  }

  private static String frames(List<StackFrame> frames) {
    return frames.stream().map(frame -> quoted(frame.toString())).collect(Collectors.joining(","));
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\' || c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  @Override
  public void close() {
    mallometer.close();
  }

  /**
   * Records the observations behind the verdicts each minute, so that a test can repeat the
   * verdicts.
   */
  static final class Trace extends Thread {

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private final Path file;
    private final Pace pace;
    private final Duration epoch;

    private Trace(Path file, Pace pace, Duration epoch) {
      super("trace");
      this.file = file;
      this.pace = pace;
      this.epoch = epoch;
    }

    static Trace start(Path file, Pace pace, double scale) {
      Trace log = new Trace(file, pace, Duration.ofMillis((long) (5000 / scale)));
      log.start();
      return log;
    }

    @Override
    public void run() {
      NativeLibrary library = new ProcessLibrary();
      library.observeUse(epoch);
      try (EvidenceTrace.Recorder recorder = EvidenceTrace.record(file)) {
        for (Duration next = INTERVAL; !pace.isOver(); next = next.plus(INTERVAL)) {
          pace.until(next);
          Instant now = Instant.now();
          recorder.add(library.evidence(), library.callSites(now, List.of()), now);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Prints the cost of searches for lost memory in a process whose memory is filled with random words. Argument: the
   * GiB to fill.
   */
  public static final class SearchCost {

    private static final int BYTES = 1 << 20;
    private static final int SEARCHES = 3;
    private static final double GIB = 1 << 30;

    private SearchCost() {}

    public static void main(String[] arguments) throws InterruptedException {
      NativeLibrary library = new ProcessLibrary();
      library.observeUse(Duration.ofSeconds(5));
      fill((long) (Double.parseDouble(arguments[0]) * GIB));
      List<Integer> sites =
          library.callSites(Instant.now(), List.of()).sites().stream()
              .filter(site -> site.liveBytes().value() >= BYTES)
              .map(CallSite::number)
              .limit(NativeLibrary.MOST_SEARCHED_SITES)
              .toList();
      for (int i = 0; i < SEARCHES; i++) {
        System.out.println(described(search(library, sites)));
      }
    }

    /** Fills memory with random words. A few look like addresses, as in real programs. */
    private static void fill(long bytes) {
      long[] words = new Random(1).longs(BYTES / Long.BYTES).toArray();
      for (long filled = 0; filled < bytes; filled += BYTES) {
        new Pointer(Native.malloc(BYTES)).write(0, words, 0, words.length);
      }
    }

    private static MemorySearch search(NativeLibrary library, List<Integer> sites)
        throws InterruptedException {
      String refusal = library.searchMemory(sites, Long.MAX_VALUE);
      if (!refusal.isEmpty()) {
        throw new IllegalStateException(refusal);
      }
      while (library.memorySearch().state() == MemorySearch.State.RUNNING) {
        Thread.sleep(50);
      }
      return library.memorySearch();
    }

    private static String described(MemorySearch search) {
      return String.format(
          "%s %s: %.2f of %.2f GiB, %.2f s of processor time, %.1f s in all; for %d objects",
          search.state(),
          search.reason(),
          search.coverage().searchedBytes() / GIB,
          search.coverage().residentBytes() / GIB,
          search.effort().cpuSeconds(),
          (search.effort().endedNanos() - search.effort().beganNanos()) / 1e9,
          search.objects().size());
    }
  }
}
