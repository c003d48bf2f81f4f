package io.mallometer.view;

import io.mallometer.model.Figure;
import io.mallometer.model.SiteTrends;
import java.time.Instant;
import java.util.List;

/**
 * The answer of {@code nativememory/trends}: how live memory changed in the last hour, for the
 * largest libraries and call sites, and for the libraries and call sites that grew most.
 */
public record TrendsView(
    @Figure("Milliseconds since 1970, the last being the latest reading") List<Long> times,
    @Figure("By the library that asked for the memory, most live bytes first")
        List<SiteTrends.Group> libraries,
    @Figure("By the call site's name, most live bytes first") List<SiteTrends.Group> sites,
    @Figure("Why there are none, or no Java frames in them; empty if nothing is missing")
        String reason)
    implements View {

  /**
   * Largest number of groups that are chosen by live bytes, and largest number of groups that are
   * chosen by growth.
   */
  static final int MOST = 10;

  static TrendsView of(SiteTrends libraries, SiteTrends sites) {
    return new TrendsView(
        sites.times().stream().map(Instant::toEpochMilli).toList(),
        libraries.groups(),
        sites.groups(),
        sites.reason());
  }
}
