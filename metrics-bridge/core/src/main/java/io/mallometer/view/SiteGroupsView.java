package io.mallometer.view;

import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.Grouping;
import io.mallometer.model.SiteGroup;
import io.mallometer.model.SiteOrder;
import java.util.List;

/**
 * Answer of {@code nativememory/sites?group=}. Unknown numbers are {@code NaN}.
 *
 * @param reading of which reading the sites are
 * @param grouping by what they are taken together
 * @param matching how many groups there are, of which {@link #groups()} are the first
 * @param groups the groups
 */
public record SiteGroupsView(
    SitesView.Reading reading, String grouping, int matching, List<Group> groups) implements View {

  /**
   * Call sites taken together.
   *
   * @param key what they have in common
   * @param sites how many they are
   * @param samples how many allocations were looked at
   * @param liveBytes bytes in use
   * @param liveObjects objects in use
   * @param allocatedBytes bytes allocated since counting began
   * @param allocatedObjects objects allocated since then
   * @param bytesPerSecond bytes allocated for each second, lately
   */
  public record Group(
      String key,
      int sites,
      long samples,
      Estimate liveBytes,
      Estimate liveObjects,
      Estimate allocatedBytes,
      Estimate allocatedObjects,
      double bytesPerSecond) {

    private static Group of(SiteGroup group) {
      return new Group(
          group.key(),
          group.sites(),
          group.samples(),
          group.liveBytes(),
          group.liveObjects(),
          group.allocatedBytes(),
          group.allocatedObjects(),
          group.bytesPerSecond());
    }
  }

  static SiteGroupsView of(CallSites sites, Grouping grouping, SiteOrder order, int most) {
    List<SiteGroup> groups = sites.groupedBy(grouping).stream().sorted(order.comparator()).toList();
    return new SiteGroupsView(
        SitesView.Reading.of(sites),
        grouping.id(),
        groups.size(),
        SiteQuery.rows(groups, most, Group::of));
  }
}
