package io.mallometer.benchmarks.owner;

import com.sun.jna.Native;
import io.mallometer.Mallometer;
import io.mallometer.benchmarks.owner.Kernels.Kernel;
import io.mallometer.model.CallSite;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Holding;
import io.mallometer.model.OwnerReport.Outlook;
import io.mallometer.model.OwnerReport.Way;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Plants all kernels, searches for the owner of each and prints a line for each: {@code right};
 * {@code wrong} if another owner is named; {@code missed} if none is; {@code out} if the JVM lacks
 * a feature that the kernel needs, or if a collection has freed the memory. Arguments: names of
 * kernels, to run only those; {@code -v} prints the answers.
 */
public final class Run {

  private static final OwnerBudget ANY =
      new OwnerBudget(Duration.ofMinutes(2), Duration.ofMinutes(10));
  private static final int LINKS = 8;

  private Run() {}

  /** Runs the program. */
  public static void main(String[] arguments) {
    List<String> wanted = new ArrayList<>(List.of(arguments));
    boolean verbose = wanted.remove("-v");
    int bad = 0;
    try (Mallometer mallometer = Mallometer.open()) {
      sites(mallometer); // this reading makes later stacks include Java frames
      List<Kernel> planted = new ArrayList<>();
      for (Kernel kernel : Kernels.ALL) {
        String name = kernel.name();
        if (wanted.isEmpty() || wanted.contains(name)) {
          try {
            kernel.plant();
            planted.add(kernel);
          } catch (Throwable e) {
            System.out.printf("%-16s out     %s%n", name, e);
          }
        }
      }
      for (Kernel kernel : planted) {
        bad += verdict(mallometer, kernel, verbose) ? 0 : 1;
      }
    }
    System.exit(bad == 0 ? 0 : 1);
  }

  private static boolean verdict(Mallometer mallometer, Kernel kernel, boolean verbose) {
    String name = kernel.name();
    Optional<CallSite> site = site(mallometer, kernel.getClass().getName());
    if (site.isEmpty()) {
      System.out.printf("%-16s missed  no call site%n", name);
      return false;
    }
    OwnerReport report = mallometer.leaks().owners(site.get().number(), LINKS, ANY);
    if (report.samples() == 0 && kernel.holding == Holding.GARBAGE) {
      System.out.printf("%-16s out     a collection has freed it already%n", name);
      return true;
    }
    boolean right = isRight(kernel, report);
    System.out.printf(
        "%-16s %-7s %s%n",
        name, right ? "right" : names(report) ? "wrong" : "missed", report.explanation());
    if (verbose || !right) {
      System.out.println(
          "    "
              + site.get().name()
              + ", "
              + report.samples()
              + " samples, pauses "
              + report.pauses());
      report.ways().forEach(way -> System.out.println("    " + way));
      report.remarks().forEach(line -> System.out.println("    " + line));
    }
    return right;
  }

  /** Returns a new reading of the call sites. */
  static List<CallSite> sites(Mallometer mallometer) {
    try (Mallometer.CloseLook look = mallometer.sites().closely()) {
      return look.read().sites();
    }
  }

  /** Returns the site with most live bytes whose stack leads through the kernel. */
  static Optional<CallSite> site(Mallometer mallometer, String className) {
    return sites(mallometer).stream()
        .filter(
            site -> site.frames().stream().anyMatch(frame -> frame.toString().contains(className)))
        .max(Comparator.comparingDouble(site -> site.liveBytes().value()));
  }

  private static boolean isRight(Kernel kernel, OwnerReport report) {
    if (report.ways().isEmpty()) {
      return false;
    }
    Way first = report.ways().get(0);
    String all =
        first.holder() + (first.paths().isEmpty() ? "" : " <- " + first.paths().get(0).text());
    return first.holding() == kernel.holding && kernel.words.stream().allMatch(all::contains);
  }

  private static boolean names(OwnerReport report) {
    return !report.ways().isEmpty() && report.ways().get(0).holding() == Holding.KEPT;
  }

  /**
   * Fills the heap with a number of MiB of small objects, and prints the estimated and the real
   * pauses of searches: those of the first walk, which precedes any measurement, and those of later
   * walks.
   */
  public static final class Pauses {

    private static final OwnerBudget ANY =
        new OwnerBudget(Duration.ofMinutes(5), Duration.ofMinutes(30));
    private static final int BLOCKS = 100;
    private static final Map<String, Order> ORDERS = new HashMap<>();
    private static final List<Handle> HANDLES = new ArrayList<>();

    private record Handle(long address) {}

    private record Order(String id, byte[] payload, long[] times, Order before) {}

    private Pauses() {}

    /** Runs the program. */
    public static void main(String[] arguments) {
      long wanted = Long.parseLong(arguments[0]) << 20;
      fill(wanted);
      try (Mallometer mallometer = Mallometer.open()) {
        sites(mallometer);
        for (int i = 0; i < BLOCKS; i++) {
          HANDLES.add(new Handle(Native.malloc(40_000)));
        }
        System.gc();
        Outlook outlook = mallometer.leaks().ownerOutlook();
        CallSite site =
            site(mallometer, Pauses.class.getName())
                .orElseThrow(() -> new IllegalStateException("no call site"));
        OwnerReport first = mallometer.leaks().owners(site.number(), 2, ANY);
        Outlook after = mallometer.leaks().ownerOutlook();
        OwnerReport second = mallometer.leaks().owners(site.number(), 0, ANY);
        System.out.println(
            String.format(
                Locale.ROOT,
                "%d MiB used | %.2f s | %s | %.2f s | %s",
                (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20,
                outlook.pauseSeconds(),
                seconds(first.pauses()),
                after.pauseSeconds(),
                seconds(second.pauses())));
      }
    }

    private static String seconds(List<Double> pauses) {
      return String.join(
          ", ", pauses.stream().map(pause -> String.format(Locale.ROOT, "%.2f", pause)).toList());
    }

    /**
     * Fills the heap with objects of about 42 bytes that contain random numbers and no addresses.
     */
    private static void fill(long bytes) {
      Random random = new Random(1);
      Order before = null;
      int number = 0;
      while (used() < bytes) {
        for (int i = 0; i < 10_000; i++) {
          byte[] payload = new byte[16];
          random.nextBytes(payload);
          Order order =
              new Order("order-" + number++, payload, new long[] {random.nextLong()}, before);
          ORDERS.put(order.id(), order);
          before = number % 16 == 0 ? null : order;
        }
      }
    }

    private static long used() {
      return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
  }
}
