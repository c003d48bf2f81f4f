package io.mallometer.view;

import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.model.CallSites;
import io.mallometer.model.Figure;
import io.mallometer.model.Grouping;
import io.mallometer.model.SiteGroup;
import io.mallometer.model.SiteOrder;
import java.util.List;

/** The answer of {@code nativememory/sites?group=}: groups of call sites. */
public record SiteGroupsView(
    @Figure("The reading that the sites are of") CallSites reading,
    @Figure("What the sites of a group have in common") String grouping,
    @Figure(value = "How many groups there are, of which these are the first", unit = COUNT)
        int matching,
    @Figure("The groups") List<SiteGroup> groups)
    implements View {

  static SiteGroupsView of(CallSites sites, Grouping grouping, SiteOrder order, int most) {
    List<SiteGroup> groups = sites.groupedBy(grouping).stream().sorted(order.comparator()).toList();
    return new SiteGroupsView(sites, grouping.id(), groups.size(), SiteQuery.first(groups, most));
  }
}
