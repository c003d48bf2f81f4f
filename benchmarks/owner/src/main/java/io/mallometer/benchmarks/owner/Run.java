package io.mallometer.benchmarks.owner;

import io.mallometer.Mallometer;
import io.mallometer.model.CallSite;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Holding;
import io.mallometer.model.OwnerReport.Way;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Plants all kernels, searches for the owner of each and prints a line for each: {@code right},
 * {@code wrong} if another owner is named, {@code missed} if none is, {@code out} if the JVM lacks
 * a feature that the kernel needs. Arguments: names of kernels, to run only those; {@code -v}
 * prints the answers.
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
      sites(mallometer); // makes later stacks have Java frames
      List<Kernel> planted = new ArrayList<>();
      for (Kernel kernel : ServiceLoader.load(Kernel.class)) {
        String name = kernel.getClass().getSimpleName();
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
    String name = kernel.getClass().getSimpleName();
    Optional<CallSite> site = site(mallometer, kernel.getClass().getName());
    if (site.isEmpty()) {
      System.out.printf("%-16s missed  no call site%n", name);
      return false;
    }
    OwnerReport report = mallometer.leaks().owners(site.get().number(), LINKS, ANY);
    if (report.samples() == 0 && kernel.holding() == Holding.GARBAGE) {
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
    return first.holding() == kernel.holding() && kernel.words().stream().allMatch(all::contains);
  }

  private static boolean names(OwnerReport report) {
    return !report.ways().isEmpty() && report.ways().get(0).holding() == Holding.KEPT;
  }
}
