package io.mallometer.view;

import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.model.Figure;
import io.mallometer.model.SiteChange;
import io.mallometer.model.SiteChanges;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * The answer of {@code nativememory/sites?from=}: the changes of call sites between two moments.
 */
public record SiteChangesView(
    @Figure("The first moment, the nearest to the one that was asked for") Instant from,
    @Figure("The second moment, likewise") Instant to,
    @Figure("Why the changes are only those since the first reading; empty if nothing is missing")
        String reason,
    @Figure(value = "How many sites changed, of which these are the first", unit = COUNT)
        int matching,
    @Figure("The changes of the sites") List<SiteChange> changes)
    implements View {

  /**
   * Returns the changes that the query wants.
   *
   * @throws IllegalArgumentException if no changes are known; the message states the reason
   */
  static SiteChangesView of(
      SiteChanges changes, Predicate<SiteChange> wanted, Comparator<SiteChange> order, int most) {
    Instant first =
        changes.from().orElseThrow(() -> new IllegalArgumentException(changes.reason()));
    List<SiteChange> matching = changes.changes().stream().filter(wanted).sorted(order).toList();
    return new SiteChangesView(
        first,
        changes.to().orElseThrow(),
        changes.reason(),
        matching.size(),
        SiteQuery.first(matching, most));
  }
}
