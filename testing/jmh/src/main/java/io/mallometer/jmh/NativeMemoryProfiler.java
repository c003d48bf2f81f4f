package io.mallometer.jmh;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.model.Status;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import joptsimple.OptionException;
import joptsimple.OptionParser;
import joptsimple.OptionSet;
import joptsimple.OptionSpec;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * Profiler of the native memory that a benchmark allocates, for each operation:
 *
 * <pre>
 * java -jar benchmarks.jar -prof io.mallometer.jmh.NativeMemoryProfiler
 *
 * Benchmark                             Mode  Cnt      Score   Error  Units
 * Compression.deflate:native.alloc.bytes  avgt    5 268066.000 ± 0.001   B/op
 * </pre>
 *
 * <p>The profiler counts in the threads that run the benchmark, including JMH's own work in them.
 * {@code threads=all} counts the whole process, with HotSpot's own memory. Forks start with the
 * library preloaded. Without forks the library is attached, and the whole process is counted.
 */
public final class NativeMemoryProfiler implements ExternalProfiler, InternalProfiler {

  private static final String PREFIX = "native.alloc.";
  private static final String PRELOAD = "LD_PRELOAD";
  private static final String PER_OPERATION = "#/op";
  private static final String BYTES_PER_OPERATION = "B/op";

  private final int sites;
  private final boolean allThreads;

  private @Nullable Mallometer mallometer;
  private @Nullable NativeScope scope;
  private @Nullable TopSites topSites;

  /**
   * Called by JMH.
   *
   * @param options {@code sites=5} lists the call sites that allocate most; {@code threads=all}
   *     counts the whole process, {@code threads=workers} the benchmark's threads
   * @throws ProfilerException if the options are not understood
   */
  public NativeMemoryProfiler(String options) throws ProfilerException {
    OptionParser parser = new OptionParser();
    OptionSpec<Integer> most =
        parser
            .accepts("sites", "Number of call sites to list, largest first.")
            .withRequiredArg()
            .ofType(Integer.class)
            .defaultsTo(0);
    OptionSpec<String> whose =
        parser
            .accepts("threads", "Threads to measure: workers or all.")
            .withRequiredArg()
            .ofType(String.class)
            .defaultsTo("workers");
    OptionSet given = parse(parser, options);
    this.sites = given.valueOf(most);
    this.allThreads = isAll(given.valueOf(whose));
  }

  private static OptionSet parse(OptionParser parser, String options) throws ProfilerException {
    List<String> words = new ArrayList<>();
    for (String option : options.split(";")) {
      if (!option.isBlank()) {
        words.add("--" + option.strip());
      }
    }
    try {
      return parser.parse(words.toArray(new String[0]));
    } catch (OptionException e) {
      throw new ProfilerException(e.getMessage() + ". Options: sites=5, threads=workers or all.");
    }
  }

  private static boolean isAll(String whose) throws ProfilerException {
    return switch (whose) {
      case "all" -> true;
      case "workers" -> false;
      default ->
          throw new ProfilerException("threads is '" + whose + "'; it can be workers or all.");
    };
  }

  @Override
  public String getDescription() {
    return "Native allocations by malloc, for each operation";
  }

  // ---- Functions that run in JMH's own process

  /** Preloads the library in a fork, in addition to other preloaded libraries. */
  @Override
  public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
    try {
      String library = BundledLibrary.extract().toString();
      @Nullable String others = System.getenv(PRELOAD);
      boolean alone = others == null || others.isBlank();
      return others != null && others.contains(new File(library).getName())
          ? List.of()
          : List.of("env", PRELOAD + "=" + library + (alone ? "" : ":" + others));
    } catch (IOException e) {
      // The fork attaches the library, or reports why it cannot.
      return List.of();
    }
  }

  @Override
  public Collection<String> addJVMOptions(BenchmarkParams params) {
    return allThreads
        ? List.of("--enable-native-access=ALL-UNNAMED")
        : List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-Djmh.executor=CUSTOM",
            "-Djmh.executor.class=" + CountingExecutor.class.getName());
  }

  @Override
  public void beforeTrial(BenchmarkParams benchmarkParams) {
    // Does nothing, because the fork measures.
  }

  @Override
  public Collection<? extends Result<?>> afterTrial(
      BenchmarkResult result, long pid, File standardOutput, File standardError) {
    return List.of();
  }

  @Override
  public boolean allowPrintOut() {
    return true;
  }

  @Override
  public boolean allowPrintErr() {
    return true;
  }

  // ---- Functions that run in the process of the benchmark

  @Override
  public void beforeIteration(BenchmarkParams params, IterationParams iteration) {
    Mallometer opened = opened();
    CountingExecutor.take();
    if (sites > 0 && topSites == null && iteration.getType() == IterationType.MEASUREMENT) {
      topSites = new TopSites(opened, sites);
    }
    scope = opened.counting().processScope();
  }

  private Mallometer opened() {
    Mallometer opened = mallometer;
    if (opened == null) {
      opened = Mallometer.open();
      Status status = opened.counting().attach();
      if (!status.active()) {
        throw new IllegalStateException("Native memory is not counted: " + status);
      }
      mallometer = opened;
    }
    return opened;
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams params, IterationParams iteration, IterationResult result) {
    @Nullable NativeScope open = scope;
    if (open == null) {
      return List.of();
    }
    open.close();
    Use process = Use.of(open);
    Use use = CountingExecutor.isUsed() ? CountingExecutor.take() : process;
    long operations = Math.max(1, result.getMetadata().getAllOps());
    List<Result<?>> results = new ArrayList<>();
    add(results, "calls", use.calls(), operations, PER_OPERATION);
    add(results, "small", use.small(), operations, PER_OPERATION);
    add(results, "large", use.large(), operations, PER_OPERATION);
    @Nullable TopSites top = topSites;
    if (top == null) {
      add(results, "bytes", use.bytes(), operations, BYTES_PER_OPERATION);
    } else if (!Double.isNaN(use.bytes())) {
      boolean last = top.isLast(result.getMetadata().getAllOps(), iteration.getCount());
      results.add(
          new BytesBySite(
              PREFIX + "bytes",
              use.bytes() / operations,
              BYTES_PER_OPERATION,
              last ? top.listed() : ""));
    }
    add(results, "kept", use.kept(), operations, BYTES_PER_OPERATION);
    // The peak is that of the whole iteration, so it is not divided by the number of operations.
    add(results, "peak", use.peak(), 1, "B");
    return results;
  }

  /**
   * Adds a figure unless it is unknown (NaN). {@code testing/gates} refuses files that contain NaN.
   */
  private static void add(
      List<Result<?>> results, String name, double value, long operations, String unit) {
    if (!Double.isNaN(value)) {
      results.add(new ScalarResult(PREFIX + name, value / operations, unit, AggregationPolicy.AVG));
    }
  }
}
