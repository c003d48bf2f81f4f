import io.mallometer.Mallometer;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/**
 * Leaks 1 MB a second in forget() until mallometer gives this method the verdict leak. The first
 * argument is the time limit of the program in seconds. The second argument is the value of {@code
 * leak.time-scale}, which divides all waiting times of leak detection.
 *
 * <p>Exits with 1 at the time limit, or if mallometer reports use() as a leak. use() frees all its
 * memory.
 */
public final class Leaker {

  private static final List<Deflater> KEPT = new ArrayList<>();

  private Leaker() {}

  public static void main(String[] arguments) throws Exception {
    long begin = System.nanoTime();
    double seconds = Double.parseDouble(arguments[0]);
    double scale = Double.parseDouble(arguments[1]);
    MallometerOptions options = MallometerOptions.defaults().with(Setting.LEAK_TIME_SCALE, scale);
    boolean found = false;
    try (Mallometer mallometer = Mallometer.open(options)) {
      System.out.println(mallometer.status());
      for (int round = 0; !found && age(begin) < seconds; round++) {
        use();
        for (int i = 0; i < 4; i++) {
          forget(i == 0);
        }
        Thread.sleep(250);
        LeakReport report = mallometer.leaks().report();
        for (SiteVerdict site : report.leaks()) {
          System.out.printf("after %.0f s: %s%n", age(begin), site.sentence());
          found |= site.verdict() == Verdict.LEAK && site.site().name().contains("Leaker.forget");
          if (site.site().name().contains("Leaker.use")) {
            System.exit(1);
          }
        }
        if (round % 120 == 0) {
          System.out.printf(
              "after %.0f s: %d kept, %d sites judged, %s%n", age(begin), KEPT.size(), report.sites().size(), suspects(report));
        }
      }
    }
    System.exit(found ? 0 : 1);
  }

  private static double age(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }

  private static List<String> suspects(LeakReport report) {
    return report.suspicious().stream().map(site -> site.verdict() + " " + site.site().name()).toList();
  }

  private static void forget(boolean one) {
    Deflater deflater = new Deflater();
    fill(deflater);
    if (one) {
      KEPT.add(deflater);
    } else {
      deflater.end();
    }
  }

  private static void use() {
    Deflater deflater = new Deflater();
    fill(deflater);
    deflater.end();
  }

  private static void fill(Deflater deflater) {
    deflater.setInput(new byte[1000]);
    deflater.finish();
    deflater.deflate(new byte[2000]);
  }
}
