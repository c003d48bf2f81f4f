package io.mallometer.junit;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.Setting;
import io.mallometer.model.Status;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The process that the tests run in: preloaded, or attached by the first test that measures. */
class ThisProcess {

  static final ThisProcess INSTANCE = new ThisProcess();

  /**
   * The largest number of garbage collections. A second one follows only if the first frees memory.
   */
  private static final int MOST_COLLECTIONS = 2;

  private static final long LONGEST_COLLECTION_MILLIS = 1_000;

  /**
   * The cleaners count as done after this many successive pauses without a change of the live
   * memory.
   */
  private static final int SAME = 3;

  private static final int MOST_PAUSES = 20;
  private static final int PAUSE_MILLIS = 10;

  private final Mallometer mallometer;

  private ThisProcess() {
    this(Mallometer.open(MallometerOptions.defaults().with(Setting.LEAK_ENABLED, false)));
  }

  ThisProcess(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  /**
   * Attaches the library if native memory is not yet counted and an attach is possible. Returns
   * whether native memory is counted. Never throws.
   */
  Status status() {
    return mallometer.counting().attach();
  }

  /**
   * Begins to read live memory by call site.
   *
   * @param test the class of the test; a stack belongs to the test if it has a frame of this class
   *     or of a nested class, unless the memory is HotSpot's or the test harness's ({@link
   *     SiteOwner})
   */
  Watch watch(Of of, Class<?> test) {
    return new SiteWatch(of, test);
  }

  /** Begins to count. The thread that calls this must also close the result. */
  Counting count(Of of) {
    return new ScopeCounting(
        of == Of.TEST ? mallometer.counting().threadScope() : mallometer.counting().processScope());
  }

  /**
   * Begins to monitor. The calling thread must also call {@link Monitored#end()}.
   *
   * @param rows the CSV file, if the annotation asks for rows
   */
  Monitored monitor(MonitorNative wanted, Of of, Class<?> test, Optional<Path> rows) {
    boolean looks =
        wanted.threshold() != MonitorNative.NONE || wanted.liveSize() != MonitorNative.NONE;
    Optional<Watch> look = looks ? Optional.of(watch(of, test)) : Optional.empty();
    try {
      return new Monitored(mallometer, wanted, of, test, look, rows);
    } catch (RuntimeException e) {
      look.ifPresent(Watch::close);
      throw e;
    }
  }

  private double netBytes() {
    return mallometer
        .poll()
        .process()
        .map(counted -> (double) (counted.allocatedBytes() - counted.freedBytes()))
        .orElse(Double.NaN);
  }

  private final class SiteWatch implements Watch {
    private final Mallometer.CloseLook look = mallometer.sites().closely();
    private final Predicate<CallSite> wanted;
    private final String scope;
    private final Map<Integer, Decision> decisions = new HashMap<>();

    SiteWatch(Of of, Class<?> test) {
      CallSites first = look.read();
      String mode = mallometer.status().reason();
      if (first.sites().isEmpty()) {
        this.wanted = site -> false;
        this.scope =
            "Counted (%s): the whole process, with HotSpot's own memory: %s"
                .formatted(mode, first.reason());
      } else if (of == Of.TEST) {
        this.wanted = site -> SiteOwner.isOfProgram(site) && SiteOwner.leadsThrough(test, site);
        this.scope =
            "Counted (%s): call sites whose stacks lead through %s"
                .formatted(mode, test.getSimpleName());
      } else {
        this.wanted = SiteOwner::isOfProgram;
        this.scope =
            "Counted (%s): call sites of all threads, without HotSpot's own".formatted(mode);
      }
    }

    @Override
    public double processBytes() {
      return netBytes();
    }

    @Override
    public LiveReading read() {
      CallSites read = look.read();
      return read.sites().isEmpty()
          ? LiveReading.ofProcess(netBytes())
          : LiveReading.of(read, this::isWanted);
    }

    /**
     * Returns whether the site counts for the test. Remembers the decision while the site's name is
     * unchanged, because searching all stacks at each reading would be slow.
     */
    private boolean isWanted(CallSite site) {
      Decision known = decisions.get(site.number());
      if (known == null || !known.name().equals(site.name())) {
        known = new Decision(site.name(), wanted.test(site));
        decisions.put(site.number(), known);
      }
      return known.wanted();
    }

    @Override
    public void collectGarbage() {
      try {
        double before = Double.POSITIVE_INFINITY;
        double after = netBytes();
        for (int i = 0; i < MOST_COLLECTIONS && after < before; i++) {
          collectOnce();
          before = after;
          after = netBytes();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /**
     * Collects garbage and waits until the memory stops changing, because cleaners run after the
     * collection.
     */
    private void collectOnce() throws InterruptedException {
      ReferenceQueue<Object> queue = new ReferenceQueue<>();
      Reference<Object> unreachable = new WeakReference<>(new Object(), queue);
      System.gc();
      queue.remove(LONGEST_COLLECTION_MILLIS);
      Reference.reachabilityFence(unreachable);
      double live = netBytes();
      for (int i = 0, same = 0; i < MOST_PAUSES && same < SAME; i++) {
        Thread.sleep(PAUSE_MILLIS);
        double now = netBytes();
        same = now == live ? same + 1 : 0;
        live = now;
      }
    }

    @Override
    public String scope() {
      return scope;
    }

    @Override
    public void close() {
      look.close();
    }
  }

  private record Decision(String name, boolean wanted) {}

  private record ScopeCounting(NativeScope scope) implements Counting {
    @Override
    public ScopeCounts use() {
      ScopeFigures figures = scope.figures();
      return figures
          .counts()
          .orElseThrow(() -> new IllegalStateException("not counted: " + figures.reason()));
    }

    @Override
    public void close() {
      scope.close();
    }
  }

  /**
   * Reads the live memory of allocations that were made while the watch was open, by call site.
   * Reading is still possible after {@link #close()}.
   */
  interface Watch extends AutoCloseable {

    LiveReading read();

    /** Collects garbage and waits until cleaners have freed native memory. */
    void collectGarbage();

    /** Returns the live bytes of the whole process, HotSpot's own included. */
    double processBytes();

    String scope();

    @Override
    void close();
  }

  /** Counts calls and bytes while it is open. */
  interface Counting extends AutoCloseable {

    /**
     * Returns the counts since this was opened.
     *
     * @throws IllegalStateException with the reason, if counting was not possible
     */
    ScopeCounts use();

    @Override
    void close();
  }
}
