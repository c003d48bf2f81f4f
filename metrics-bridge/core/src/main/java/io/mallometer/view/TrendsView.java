package io.mallometer.view;

import io.mallometer.model.Figure;
import io.mallometer.model.SiteTrends;
import java.time.Instant;
import java.util.List;

/**
 * The answer of {@code nativememory/trends}: the live memory in the last hour of the largest
 * libraries and call sites, and of those that grew most.
 */
public record TrendsView(
    @Figure("Milliseconds since 1970, the last being the latest reading") List<Long> times,
    @Figure("By the library that asked for the memory, most live bytes first")
        List<SiteTrends.Group> libraries,
    @Figure("By the call site's name, most live bytes first") List<SiteTrends.Group> sites,
    @Figure("Why there are none, or no Java frames in them; empty if nothing is missing")
        String reason)
    implements View {

  /** The limit of the groups with most live bytes, and also of the groups that grew most. */
  static final int MOST = 10;

  static TrendsView of(SiteTrends libraries, SiteTrends sites) {
    return new TrendsView(
        sites.times().stream().map(Instant::toEpochMilli).toList(),
        libraries.groups(),
        sites.groups(),
        sites.reason());
  }
}
