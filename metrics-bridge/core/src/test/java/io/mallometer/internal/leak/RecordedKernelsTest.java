package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.LeakOptions;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What was recorded of real programs is judged again: the last six minutes of 40 in which the
 * kernels of {@code benchmarks/leaks} ran side by side, 20 times as fast as the world, on JDK 17
 * and 25. Twelve of them leak, thirteen only look so, and a JVM with its libraries is around them.
 * The processes themselves found all 24 leaks, with what they knew of the minutes before.
 */
@Tag("any-jdk")
class RecordedKernelsTest {

  private static final Pattern KERNEL = Pattern.compile("leaks\\.(Leaking|Healthy)\\$(\\w+)");
  private static final int SCALE = 20;
  private static final int LEAKING = 12;

  private static final List<Set<String>> FOUND = new ArrayList<>();
  private static int judged;
  private static int wrong;

  @BeforeAll
  static void judge() throws Exception {
    for (String trace : List.of("kernels-jdk17.jsonl.gz", "kernels-jdk25.jsonl.gz")) {
      List<LeakReport> reports = new ArrayList<>();
      EvidenceTrace.replay(
          Path.of(RecordedKernelsTest.class.getResource(trace).toURI()),
          LeakOptions.defaults().withTimeScale(SCALE),
          reports::add);
      count(reports.get(reports.size() - 1));
    }
    System.out.printf(
        "leaks found: %s; sites called one in vain: %d of %d%n", FOUND, wrong, judged);
  }

  private static void count(LeakReport last) {
    Set<String> found = new TreeSet<>();
    judged += last.sites().size();
    for (SiteVerdict site : last.sites()) {
      if (site.verdict() == Verdict.LEAK) {
        Matcher kernel = KERNEL.matcher(site.site().frames().toString());
        if (kernel.find() && kernel.group(1).equals("Leaking")) {
          found.add(kernel.group(2));
        } else {
          wrong++;
        }
      }
    }
    FOUND.add(found);
  }

  @Test
  void nineteenOfTwentyLeaksAreFound() {
    int found = FOUND.stream().mapToInt(Set::size).sum();

    assertThat(found / (2.0 * LEAKING)).isGreaterThanOrEqualTo(0.95);
  }

  @Test
  void fewerThanOneOfTwentySitesIsSuspectedInVain() {
    assertThat(judged).isGreaterThan(300);
    assertThat(wrong / (double) judged).isLessThan(0.05);
  }
}
