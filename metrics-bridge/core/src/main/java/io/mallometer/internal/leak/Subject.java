package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
import io.mallometer.model.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is judged as one: a site, or those of a name.
 *
 * @param group the name; null for a site by itself
 * @param sites the sites, most live bytes first
 * @param judged what its idle objects say
 * @param growing what it holds more each hour; {@code NaN} if it does not grow
 * @param failed whether it could not be judged
 */
record Subject(
    Standings.@Nullable Name group,
    List<CallSite> sites,
    Judgement judged,
    double growing,
    boolean failed) {

  int number() {
    return sites.get(0).number();
  }

  /** What this evaluation alone says. */
  Verdict verdict() {
    Verdict verdict = judged.verdict();
    return verdict != Verdict.LEAK && !Double.isNaN(growing) ? Verdict.GROWING : verdict;
  }

  double liveBytes() {
    double live = 0;
    for (CallSite site : sites) {
      live += site.liveBytes().value();
    }
    return live;
  }
}
