package io.mallometer.internal.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Measures the share of a processor that one thread of this process would get if all other threads
 * of the process were at rest. The cgroup's quota and other processes reduce this share.
 *
 * <p>A thread spins until it has used {@link #PROBE_NANOS} of CPU time. Its share is this CPU time
 * divided by the elapsed time. A shorter measurement would end before the thread has to wait,
 * because the kernel runs a thread at once after a sleep. The load average is no alternative,
 * because it includes this process's own threads.
 */
public final class ProcessorShare {

  static final long PROBE_NANOS = 30_000_000;

  /**
   * The longest duration of a measurement, in nanoseconds. A measurement that reaches this limit is
   * computed from less CPU time than {@link #PROBE_NANOS}.
   */
  private static final long MOST_NANOS = 300_000_000;

  private static final Path QUOTA_1 = Path.of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");

  private static final Path PERIOD_1 = Path.of("/sys/fs/cgroup/cpu/cpu.cfs_period_us");

  /**
   * The file with the list of the machine's processors. The JVM reports fewer in a cgroup with a
   * quota.
   */
  private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");

  private final LongSupplier nanoTime;
  private final LongSupplier threadNanos;
  private final LongSupplier processNanos;

  public ProcessorShare() {
    this(System::nanoTime, Pause::processorNanos, DiagnosticCommands::processNanos);
  }

  /**
   * Creates a measurement with other clocks, in nanoseconds. {@code threadNanos} returns the CPU
   * time of the current thread, and {@code processNanos} that of all threads of the process; a
   * negative time is unknown.
   */
  ProcessorShare(LongSupplier nanoTime, LongSupplier threadNanos, LongSupplier processNanos) {
    this.nanoTime = nanoTime;
    this.threadNanos = threadNanos;
    this.processNanos = processNanos;
  }

  /**
   * Returns how many seconds, at least 1, a thread of this process would take for one second of CPU
   * time if all other threads of the process were at rest. Takes {@link #PROBE_NANOS} of CPU time.
   */
  public double slowdown() {
    int processors = processors(new ProcessFiles().text(ONLINE).orElse(""));
    return Math.max(
        1 / quota(), measured(Math.max(processors, Runtime.getRuntime().availableProcessors())));
  }

  /**
   * Returns the slowdown that other processes cause, without the effect of the quota; 1 if it
   * cannot be measured.
   */
  double measured(int processors) {
    long begin = nanoTime.getAsLong();
    long ofThread = threadNanos.getAsLong();
    long ofProcess = processNanos.getAsLong();
    long spent;
    long passed;
    do {
      spent = threadNanos.getAsLong() - ofThread;
      passed = nanoTime.getAsLong() - begin;
    } while (spent < PROBE_NANOS && passed < MOST_NANOS);
    boolean isKnown = spent > 0 && passed > 0 && ofThread >= 0;
    double ofAll = (processNanos.getAsLong() - ofProcess) / (double) passed;
    return isKnown ? slowdown(spent / (double) passed, ofAll, processors) : 1;
  }

  /**
   * Returns how many times longer the only running thread of this process takes than on a free
   * processor. Assumes that other processes use all processors that this process did not get in the
   * measurement, and that each of their threads gets the share {@code thread}.
   *
   * @param thread the measured share of a processor, at most 1, that one thread gets while the
   *     other threads of this process run
   * @param process the number of processors that all threads of the process get together
   * @param processors the number of processors of the machine
   */
  static double slowdown(double thread, double process, int processors) {
    double others = Math.max(0, processors - Math.max(thread, process)) / thread;
    return Math.max(1, (1 + others) / processors);
  }

  /** Returns the number of processors in a list such as {@code 0-3,8}; 0 if it is no list. */
  static int processors(String list) {
    int count = 0;
    for (String range : list.strip().split(",")) {
      String[] ends = range.split("-", -1);
      try {
        count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
      } catch (NumberFormatException e) {
        return 0;
      }
    }
    return count;
  }

  /**
   * Returns the quota, in processors, of a text such as {@code 50000 100000} or {@code max 100000}
   * in {@code cpu.max}; infinite without a quota.
   */
  static double quota(String cpuMax) {
    String[] words = cpuMax.strip().split("\\s+");
    if (words.length < 2 || words[0].equals("max") || words[0].startsWith("-")) {
      return Double.POSITIVE_INFINITY;
    }
    try {
      return Double.parseDouble(words[0]) / Double.parseDouble(words[1]);
    } catch (NumberFormatException e) {
      return Double.POSITIVE_INFINITY;
    }
  }

  private static double quota() {
    ProcessFiles files = new ProcessFiles();
    double least = quota(files.text(QUOTA_1).orElse("") + " " + files.text(PERIOD_1).orElse(""));
    Optional<CgroupDirectory> cgroup =
        CgroupDirectory.find(files.own("cgroup").orElse(""), files.own("mountinfo").orElse(""));
    for (Path directory : cgroup.map(CgroupDirectory::upwards).orElse(List.of())) {
      least = Math.min(least, quota(files.text(directory.resolve("cpu.max")).orElse("")));
    }
    return least;
  }
}
