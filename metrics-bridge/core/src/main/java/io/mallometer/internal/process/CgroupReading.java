package io.mallometer.internal.process;

import io.mallometer.model.CgroupMemory;
import io.mallometer.model.CgroupMemory.Pressure;
import io.mallometer.model.ChargedPart;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the files of a memory cgroup.
 *
 * <p>The kernel updates the parts of the charged memory later than the total, so the sum of the
 * parts may differ. Missing bytes become {@link ChargedPart#OTHER}. Surplus bytes are subtracted
 * from the page cache, which changes most, and then from the other parts in their order.
 */
final class CgroupReading {

  /**
   * Limits from this value on mean "no limit". Version 1 of cgroups reports a missing limit as
   * {@code Long.MAX_VALUE}, rounded down to whole pages.
   */
  private static final long NO_LIMIT = Long.MAX_VALUE - (1L << 20);

  private static final Pattern PRESSURE =
      Pattern.compile("(some|full) avg10=(\\d+(?:\\.\\d+)?) .*?total=(\\d+)");

  private final CgroupDirectory directory;
  private final Function<Path, Optional<String>> text;
  private final Map<ChargedPart, Long> parts = new EnumMap<>(ChargedPart.class);

  private CgroupReading(CgroupDirectory directory, Function<Path, Optional<String>> text) {
    this.directory = directory;
    this.text = text;
  }

  /**
   * Reads the cgroup; empty if the kernel does not report the charge, as in the root cgroup.
   *
   * @param text the function that reads a file; empty if the file cannot be read
   */
  static Optional<CgroupMemory> of(
      CgroupDirectory directory,
      Function<Path, Optional<String>> text,
      OptionalLong anonymousBytes) {
    CgroupReading reading = new CgroupReading(directory, text);
    return directory.version() == 2
        ? reading.version2(anonymousBytes)
        : reading.version1(anonymousBytes);
  }

  private Optional<CgroupMemory> version2(OptionalLong anonymousBytes) {
    OptionalLong charged = number("memory.current");
    if (charged.isEmpty()) {
      return Optional.empty();
    }
    Map<String, String> stat = table("memory.stat");
    addProcesses(value(stat, "anon"), anonymousBytes);
    addFiles(value(stat, "file"), value(stat, "shmem"));
    put(ChargedPart.SOCKETS, value(stat, "sock"));
    put(ChargedPart.KERNEL, kernel(stat));
    return Optional.of(
        result(
            charged.getAsLong(),
            lowest("memory.max"),
            lowest("memory.high"),
            value(stat, "inactive_file"),
            number("memory.swap.current"),
            events(table("memory.events")),
            pressure()));
  }

  private Optional<CgroupMemory> version1(OptionalLong anonymousBytes) {
    OptionalLong charged = number("memory.usage_in_bytes");
    if (charged.isEmpty()) {
      return Optional.empty();
    }
    Map<String, String> stat = table("memory.stat");
    addProcesses(value(stat, "total_rss"), anonymousBytes);
    addFiles(value(stat, "total_cache"), value(stat, "total_shmem"));
    put(ChargedPart.KERNEL, number("memory.kmem.usage_in_bytes"));
    Map<String, Long> events = new HashMap<>();
    putIfKnown(events, "max", number("memory.failcnt"));
    putIfKnown(events, "oom_kill", value(table("memory.oom_control"), "oom_kill"));
    return Optional.of(
        result(
            charged.getAsLong(),
            limited(
                smaller(number("memory.limit_in_bytes"), value(stat, "hierarchical_memory_limit"))),
            OptionalLong.empty(),
            value(stat, "total_inactive_file"),
            value(stat, "total_swap"),
            events,
            pressure()));
  }

  private CgroupMemory result(
      long charged,
      OptionalLong limit,
      OptionalLong high,
      OptionalLong inactiveFile,
      OptionalLong swap,
      Map<String, Long> events,
      Optional<Pressure> pressure) {
    balance(charged);
    double workingSet =
        inactiveFile.isPresent() ? Math.max(0, charged - inactiveFile.getAsLong()) : Double.NaN;
    return new CgroupMemory(
        directory.version(),
        charged,
        parts,
        orUnknown(limit),
        orUnknown(high),
        workingSet,
        orUnknown(swap),
        events,
        pressure);
  }

  private void addProcesses(OptionalLong anonymous, OptionalLong own) {
    if (anonymous.isPresent() && own.isPresent()) {
      long mine = Math.min(anonymous.getAsLong(), own.getAsLong());
      parts.put(ChargedPart.THIS_PROCESS, mine);
      parts.put(ChargedPart.OTHER_PROCESSES, anonymous.getAsLong() - mine);
    }
  }

  /** Adds files and shared memory. The kernel's number of cached files includes shared memory. */
  private void addFiles(OptionalLong files, OptionalLong shared) {
    if (files.isPresent() && shared.isPresent()) {
      long tmpfs = Math.min(shared.getAsLong(), files.getAsLong());
      parts.put(ChargedPart.TMPFS, tmpfs);
      parts.put(ChargedPart.PAGE_CACHE, files.getAsLong() - tmpfs);
    }
  }

  /**
   * Returns the kernel memory of the cgroup. Linux before 5.18 reports no sum, so the items that it
   * reports are added.
   */
  private static OptionalLong kernel(Map<String, String> stat) {
    OptionalLong sum = value(stat, "kernel");
    if (sum.isPresent() || value(stat, "slab").isEmpty()) {
      return sum;
    }
    long items = 0;
    for (String item : new String[] {"slab", "kernel_stack", "pagetables", "percpu", "vmalloc"}) {
      items = TextNumbers.sum(items, value(stat, item));
    }
    return OptionalLong.of(items);
  }

  private void balance(long charged) {
    long itemised = 0;
    for (long bytes : parts.values()) {
      itemised = TextNumbers.sum(itemised, OptionalLong.of(bytes));
    }
    long excess = take(ChargedPart.PAGE_CACHE, itemised - charged);
    for (ChargedPart part : ChargedPart.values()) {
      excess = take(part, excess);
    }
    parts.put(ChargedPart.OTHER, Math.max(0, charged - itemised));
  }

  private long take(ChargedPart part, long excess) {
    Long bytes = parts.get(part);
    if (excess <= 0 || bytes == null) {
      return excess;
    }
    long taken = Math.min(bytes, excess);
    parts.put(part, bytes - taken);
    return excess - taken;
  }

  private void put(ChargedPart part, OptionalLong bytes) {
    putIfKnown(parts, part, bytes);
  }

  private OptionalLong lowest(String file) {
    OptionalLong lowest = OptionalLong.empty();
    for (Path cgroup : directory.upwards()) {
      lowest = smaller(lowest, number(cgroup.resolve(file)));
    }
    return limited(lowest);
  }

  private static OptionalLong smaller(OptionalLong one, OptionalLong other) {
    if (one.isEmpty() || other.isEmpty()) {
      return one.isPresent() ? one : other;
    }
    return one.getAsLong() <= other.getAsLong() ? one : other;
  }

  private static OptionalLong limited(OptionalLong limit) {
    return limit.orElse(Long.MAX_VALUE) >= NO_LIMIT ? OptionalLong.empty() : limit;
  }

  private static Map<String, Long> events(Map<String, String> all) {
    Map<String, Long> named = new HashMap<>();
    for (String event : new String[] {"high", "max", "oom", "oom_kill"}) {
      putIfKnown(named, event, value(all, event));
    }
    return named;
  }

  private static <K> void putIfKnown(Map<K, Long> figures, K key, OptionalLong figure) {
    if (figure.isPresent()) {
      figures.put(key, figure.getAsLong());
    }
  }

  private Optional<Pressure> pressure() {
    double[] seconds = {Double.NaN, Double.NaN};
    double[] ratios = {Double.NaN, Double.NaN};
    Matcher line =
        PRESSURE.matcher(text.apply(directory.path().resolve("memory.pressure")).orElse(""));
    boolean any = false;
    while (line.find()) {
      int kind = line.group(1).equals("some") ? 0 : 1;
      seconds[kind] = Double.parseDouble(line.group(3)) / 1e6;
      ratios[kind] = Double.parseDouble(line.group(2)) / 100;
      any = true;
    }
    return any
        ? Optional.of(new Pressure(seconds[0], seconds[1], ratios[0], ratios[1]))
        : Optional.empty();
  }

  private OptionalLong number(String file) {
    return number(directory.path().resolve(file));
  }

  private OptionalLong number(Path file) {
    Optional<String> read = text.apply(file);
    return read.isPresent() ? TextNumbers.decimal(read.get()) : OptionalLong.empty();
  }

  private Map<String, String> table(String file) {
    Map<String, String> table = new HashMap<>();
    for (String line : text.apply(directory.path().resolve(file)).orElse("").split("\n")) {
      int space = line.indexOf(' ');
      if (space > 0) {
        table.put(line.substring(0, space), line.substring(space + 1));
      }
    }
    return table;
  }

  private static OptionalLong value(Map<String, String> table, String name) {
    String value = table.get(name);
    return value == null ? OptionalLong.empty() : TextNumbers.decimal(value);
  }

  private static double orUnknown(OptionalLong value) {
    return value.isPresent() ? value.getAsLong() : Double.NaN;
  }
}
