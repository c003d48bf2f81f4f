package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Judges recordings of 25 small programs ("kernels") on JDK 17 and 25. Twelve of them leak, and
 * thirteen only look like leaks.
 *
 * <p>The programs ran with all their times divided by {@link #SCALE}. A recording covers the last
 * six of 40 minutes.
 */
@Tag("any-jdk")
class RecordedKernelsTest {

  private static final Pattern KERNEL = Pattern.compile("leaks\\.(Leaking|Healthy)\\$(\\w+)");
  private static final Pattern STATED =
      Pattern.compile("leaks\\.(StatedLeaks|StatedLookAlikes)\\$(\\w+)");
  private static final int SCALE = 20;
  private static final double LEAKING = 2 * 12;
  private static final double STATED_LEAKS = 2 * 18;

  /**
   * The longest timeout is 30 minutes, and no object in the recordings is older. So leaks are
   * expected to be only {@code UNUSED}. Without timeouts, they are expected to be {@code LEAK}.
   */
  @Test
  void whatLeaksIsUnusedOrWithoutTimeoutsALeakAndWhatOnlyLooksSoIsNeither() throws Exception {
    Found unused = new Found(Verdict.UNUSED);
    Found leaks = new Found(Verdict.LEAK);
    int judged = 0;
    for (String trace : List.of("kernels-jdk17.jsonl.gz", "kernels-jdk25.jsonl.gz")) {
      List<LeakReport> reports =
          latest(trace, longestTimeout(Duration.ofMinutes(30)), longestTimeout(Duration.ZERO));
      unused.add(reports.get(0), trace);
      leaks.add(reports.get(1), trace);
      judged += reports.get(0).sites().size();
    }
    System.out.println(unused + " and " + leaks + " of " + judged);

    assertThat(unused.leaking().size() / LEAKING).isGreaterThanOrEqualTo(0.95);
    assertThat(unused.others()).isEmpty();
    assertThat(judged).isGreaterThan(300);
    assertThat(leaks.leaking().size() / LEAKING).isGreaterThanOrEqualTo(0.8);
    assertThat(leaks.others()).isEmpty();
  }

  private static MallometerOptions longestTimeout(Duration timeout) {
    return MallometerOptions.defaults()
        .with(Setting.LEAK_TIME_SCALE, (double) SCALE)
        .with(Setting.LEAK_LONGEST_TIMEOUT, timeout);
  }

  /**
   * Judges 18 leaking and 22 healthy programs. The programs ran for 50 minutes at real speed, and
   * the recordings cover the last six minutes.
   */
  @Test
  void ofProgramsThatStateTheirTruthLeaksAreUnusedAndNoLookAlikeIsALeak() throws Exception {
    Set<String> unused = new TreeSet<>();
    List<String> inVain = new ArrayList<>();
    for (String trace : List.of("stated-jdk17.jsonl.gz", "stated-jdk25.jsonl.gz")) {
      LeakReport report = latest(trace, MallometerOptions.defaults()).get(0);
      for (SiteVerdict site : report.suspicious()) {
        Matcher program = STATED.matcher(site.site().frames().toString());
        if (program.find() && program.group(1).equals("StatedLeaks")) {
          unused.add(trace + " " + program.group(2));
        } else if (site.verdict() == Verdict.LEAK) {
          inVain.add(site.sentence());
        }
      }
    }
    System.out.println("stated: " + unused + ", in vain " + inVain);

    assertThat(unused.size() / STATED_LEAKS).isGreaterThanOrEqualTo(0.9);
    assertThat(inVain).isEmpty();
  }

  /** Returns the last report with each of the options. */
  private static List<LeakReport> latest(String trace, MallometerOptions... options)
      throws Exception {
    List<List<LeakReport>> reports = new ArrayList<>();
    Path file = Path.of(RecordedKernelsTest.class.getResource(trace).toURI());
    EvidenceTrace.replay(file, List.of(options), reports::add);
    return reports.get(reports.size() - 1);
  }

  /**
   * Collects the sites whose verdict is at least as grave as {@code mildest}, separately for
   * leaking programs and all others.
   */
  private record Found(Verdict mildest, Set<String> leaking, List<String> others) {

    Found(Verdict mildest) {
      this(mildest, new TreeSet<>(), new ArrayList<>());
    }

    void add(LeakReport report, String trace) {
      for (SiteVerdict site : report.sites()) {
        if (site.verdict().compareTo(mildest) > 0) {
          continue;
        }
        Matcher kernel = KERNEL.matcher(site.site().frames().toString());
        if (kernel.find() && kernel.group(1).equals("Leaking")) {
          leaking.add(trace + " " + kernel.group(2));
        } else {
          others.add(site.sentence());
        }
      }
    }
  }
}
