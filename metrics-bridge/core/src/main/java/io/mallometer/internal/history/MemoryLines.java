package io.mallometer.internal.history;

import io.mallometer.internal.symbol.StackFingerprint;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.Snapshot;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Composes the lines that describe a snapshot or the JVM in the recording. */
final class MemoryLines {

  /** The largest number of recorded huge requests; each takes some 60 bytes. */
  private static final int MOST_HUGE = 16;

  /**
   * The largest number of libraries that are recorded. A line on a library or on a site has at most
   * about 220 characters.
   */
  private static final int MOST_LIBRARIES = 10;

  private static final int MOST_SITES = 20;

  private static final String KNOWN_LEAK = "known-leak";

  private MemoryLines() {}

  static int most(String kind) {
    return switch (kind) {
      case "library" -> MOST_LIBRARIES;
      case "site" -> MOST_SITES;
      default -> Integer.MAX_VALUE;
    };
  }

  static MemoryText of(Snapshot snapshot, List<KnownLeak> known) {
    MemoryText text = new MemoryText();
    text.line("state", snapshot.status().state());
    text.line("mode", snapshot.self().mode());
    snapshot.self().since().ifPresent(since -> text.line("since", since));
    text.figure("resident-bytes", snapshot.memory().residentBytes());
    snapshot.process().ifPresent(counted -> add(text, counted));
    snapshot.memory().resident().ifPresent(split -> add(text, split));
    snapshot.memory().cgroup().ifPresent(cgroup -> add(text, cgroup));
    snapshot.allocator().ifPresent(allocator -> add(text, allocator));
    snapshot.memory().budget().ifPresent(budget -> add(text, budget));
    List<HugeAllocation> huge = snapshot.hugeAllocations();
    huge.subList(Math.max(0, huge.size() - MOST_HUGE), huge.size())
        .forEach(one -> text.line("large", one.time(), one.bytes(), one.threadName()));
    known.forEach(leak -> add(text, leak));
    snapshot.leaks().ifPresent(leaks -> add(text, leaks));
    snapshot.sites().ifPresent(sites -> add(text, sites));
    return text;
  }

  /**
   * Returns the lines on the JVM and its machine. Leaves out the command line, which may contain
   * secrets.
   */
  static MemoryText ofThisJvm() {
    RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
    return new MemoryText()
        .line("vm-name", runtime.getVmName())
        .line("vm-version", runtime.getVmVersion())
        .line("java-version", System.getProperty("java.version", "unknown"))
        .figure("max-heap-bytes", Runtime.getRuntime().maxMemory())
        .figure("processors", Runtime.getRuntime().availableProcessors());
  }

  private static void add(MemoryText text, NativeCounters counted) {
    text.figure("live-bytes", counted.liveBytes())
        .figure("live-objects", counted.liveObjects())
        .figure("peak-bytes", counted.peakBytes());
    if (!counted.baseline().equals(Baseline.NONE)) {
      text.line("baseline", counted.baseline().sentence())
          .figure(
              MemoryText.BEFORE,
              counted.liveBytes() - (counted.allocatedBytes() - counted.freedBytes()));
    }
  }

  private static void add(MemoryText text, ResidentMemory split) {
    text.line("split-time", split.time());
    for (ResidentPart part : split.parts().keySet().stream().sorted().toList()) {
      text.line("part", part.tag(), split.parts().get(part));
    }
  }

  private static void add(MemoryText text, CgroupMemory cgroup) {
    text.figure("charged-bytes", cgroup.chargedBytes())
        .figure("limit-bytes", cgroup.limitBytes())
        .figure("working-set-bytes", cgroup.workingSetBytes());
    for (ChargedPart part : cgroup.parts().keySet().stream().sorted().toList()) {
      text.line("charged", part.tag(), cgroup.parts().get(part));
    }
    cgroup.events().keySet().stream()
        .sorted()
        .forEach(event -> text.line("event", event, cgroup.events().get(event)));
  }

  private static void add(MemoryText text, AllocatorStatistics allocator) {
    text.figure("allocator-arenas", allocator.arenas())
        .figure("allocator-system-bytes", allocator.systemBytes())
        .figure("allocator-used-bytes", allocator.usedBytes())
        .figure("allocator-retained-bytes", allocator.retainedBytes());
  }

  private static void add(MemoryText text, KnownLeak leak) {
    text.line(
        KNOWN_LEAK,
        leak.stack(),
        leak.time().truncatedTo(ChronoUnit.SECONDS),
        leak.evidence().tag());
  }

  static List<KnownLeak> knownLeaks(MemoryText text) {
    return text.all(KNOWN_LEAK).stream()
        .flatMap(line -> knownLeak(line).stream())
        .limit(KnownLeak.MOST)
        .toList();
  }

  private static Optional<KnownLeak> knownLeak(List<String> line) {
    if (line.size() < 4 || !StackFingerprint.isOne(line.get(1))) {
      return Optional.empty();
    }
    try {
      Instant time = Instant.parse(line.get(2));
      return Stream.of(LeakEvidence.LOST, LeakEvidence.OUTLASTED)
          .filter(evidence -> evidence.tag().equals(line.get(3)))
          .map(evidence -> new KnownLeak(line.get(1), time, evidence))
          .findFirst();
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  private static void add(MemoryText text, LeakSummary leaks) {
    leaks
        .worst()
        .forEach(
            leak ->
                text.line(
                    "leak",
                    leak.site().name(),
                    Math.round(leak.suspected().bytes().value()),
                    leak.since(),
                    leak.sentence()));
  }

  /**
   * Adds the lines on call sites. They come last, because a text that is too long for its slot in
   * the recording loses its end.
   */
  private static void add(MemoryText text, SiteSummary sites) {
    text.line("sites-time", sites.time());
    sites.libraries().stream()
        .filter(share -> !share.name().equals(SiteSummary.OTHER))
        .limit(MOST_LIBRARIES)
        .forEach(share -> add(text, "library", share));
    sites.largestSites().stream().limit(MOST_SITES).forEach(share -> add(text, "site", share));
  }

  private static void add(MemoryText text, String kind, SiteSummary.Share share) {
    text.line(kind, share.name(), Math.round(share.liveBytes()));
  }

  private static void add(MemoryText text, MemoryBudget budget) {
    text.line("verdict", budget.verdict());
    budget
        .lines()
        .forEach(
            line -> text.line("budget", line.item(), line.bytes(), line.basis(), line.detail()));
  }
}
