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
   * The longest timeout is the default of 30 minutes, and no object in the recordings is older. So
   * leaks are expected to be only {@code UNUSED}.
   */
  @Test
  void whatLeaksIsUnusedAndWhatOnlyLooksSoIsNot() throws Exception {
    Found found = new Found(Duration.ofMinutes(30), Verdict.UNUSED);

    assertThat(found.leaking.size() / LEAKING).isGreaterThanOrEqualTo(0.95);
    assertThat(found.others).isEmpty();
    assertThat(found.judged).isGreaterThan(300);
  }

  @Test
  void whatLeaksIsALeakWhereThereAreNoTimeouts() throws Exception {
    Found found = new Found(Duration.ZERO, Verdict.LEAK);

    assertThat(found.leaking.size() / LEAKING).isGreaterThanOrEqualTo(0.8);
    assertThat(found.others).isEmpty();
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
      for (SiteVerdict site : latest(trace, MallometerOptions.defaults()).suspicious()) {
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

  private static LeakReport latest(String trace, MallometerOptions options) throws Exception {
    List<LeakReport> reports = new ArrayList<>();
    EvidenceTrace.replay(
        Path.of(RecordedKernelsTest.class.getResource(trace).toURI()), options, reports::add);
    return reports.get(reports.size() - 1);
  }

  /**
   * Collects the sites whose verdict is at least as grave as {@code mildest}, separately for
   * leaking programs and all others.
   */
  private static final class Found {
    final Set<String> leaking = new TreeSet<>();
    final List<String> others = new ArrayList<>();
    int judged;

    Found(Duration longestTimeout, Verdict mildest) throws Exception {
      for (String trace : List.of("kernels-jdk17.jsonl.gz", "kernels-jdk25.jsonl.gz")) {
        MallometerOptions options =
            MallometerOptions.defaults()
                .with(Setting.LEAK_TIME_SCALE, (double) SCALE)
                .with(Setting.LEAK_LONGEST_TIMEOUT, longestTimeout);
        latest(trace, options).sites().forEach(site -> note(site, mildest, trace));
      }
      System.out.println(mildest + ": " + leaking + ", in vain " + others + " of " + judged);
    }

    private void note(SiteVerdict site, Verdict mildest, String trace) {
      judged++;
      if (site.verdict().compareTo(mildest) <= 0) {
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
