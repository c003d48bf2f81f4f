package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is judged as one: a site, or those of a name.
 *
 * @param group the name; null for a site by itself
 * @param sites the sites, most live bytes first
 * @param judged what this evaluation alone says
 * @param failed whether it could not be judged
 */
record Subject(
    Standings.@Nullable Name group, List<CallSite> sites, Judgement judged, boolean failed) {

  /** The name that its sites share. */
  Standings.Name name() {
    return Standings.Name.of(sites.get(0));
  }

  int number() {
    return sites.get(0).number();
  }

  double liveBytes() {
    double live = 0;
    for (CallSite site : sites) {
      live += site.liveBytes().value();
    }
    return live;
  }
}
