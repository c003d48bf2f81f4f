package io.mallometer.view;

import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Figure;
import io.mallometer.model.SiteOrder;
import java.util.List;

/** The answer of {@code nativememory/sites}: call sites. */
public record SitesView(
    @Figure("The reading that the sites are of") CallSites reading,
    @Figure(value = "How many sites there are, of which these are the first", unit = COUNT)
        int matching,
    @Figure("The sites") List<CallSite> sites)
    implements View {

  static SitesView of(CallSites sites, SiteOrder order, int most) {
    return new SitesView(sites, sites.sites().size(), SiteQuery.first(sites.sortedBy(order), most));
  }
}
