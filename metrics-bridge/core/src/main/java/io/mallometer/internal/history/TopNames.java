package io.mallometer.internal.history;

import io.mallometer.meter.TagValue;
import io.mallometer.model.CallSite;
import io.mallometer.model.CodeOwner;
import io.mallometer.model.ResidentMemory.Mapped;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SiteSummary.Share;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Chooses the few names with most live bytes. A chosen name that falls by a few ranks stays chosen.
 */
public final class TopNames {

  private static final Comparator<Share> MOST_FIRST =
      new Comparator<>() {
        @Override
        public int compare(Share one, Share other) {
          int byBytes = Double.compare(other.liveBytes(), one.liveBytes());
          return byBytes != 0 ? byBytes : one.name().compareTo(other.name());
        }
      };

  private final int top;
  private final int staying;
  private Set<String> in = Set.of();

  public TopNames() {
    this(SiteSummary.TOP, SiteSummary.STAYING);
  }

  /**
   * Creates a choice.
   *
   * @param top the last rank at which a name is chosen; the first rank is 1
   * @param staying the last rank at which a chosen name stays chosen
   */
  public TopNames(int top, int staying) {
    this.top = top;
    this.staying = staying;
  }

  public static List<Share> ranked(List<CallSite> sites, Function<CallSite, String> name) {
    Map<String, Double> bytes = new HashMap<>();
    for (CallSite site : sites) {
      add(bytes, name.apply(site), site.liveBytes().value());
    }
    Map<String, Double> bytesByTag = new HashMap<>();
    for (Map.Entry<String, Double> known : bytes.entrySet()) {
      add(bytesByTag, TagValue.of(known.getKey()), known.getValue());
    }
    return ranked(bytesByTag);
  }

  /**
   * Returns live bytes by name of site, most first. The sites of HotSpot and mallometer, and sites
   * without a stack, are added up under {@link SiteSummary#OTHER}.
   */
  public static List<Share> rankedSites(List<CallSite> sites) {
    return ranked(sites, TopNames::nameOf);
  }

  /**
   * Returns resident bytes by name of site, most first. Includes the resident bytes of malloc's
   * sites if they are known, and the bytes that sites mapped.
   */
  public static List<Share> rankedResident(List<CallSite> sites, List<Mapped> mapped) {
    Map<String, Double> bytes = new HashMap<>();
    for (CallSite site : sites) {
      double resident = site.residentBytes().value();
      if (!Double.isNaN(resident)) {
        add(bytes, TagValue.of(nameOf(site)), resident);
      }
    }
    for (Mapped site : mapped) {
      add(bytes, TagValue.of(site.name()), site.bytes());
    }
    return ranked(bytes);
  }

  private static String nameOf(CallSite site) {
    return site.codeOwner() == CodeOwner.APPLICATION && !site.frames().isEmpty()
        ? site.name()
        : SiteSummary.OTHER;
  }

  public static void add(Map<String, Double> bytes, String name, double more) {
    bytes.put(name, bytes.getOrDefault(name, 0.0) + more);
  }

  public static List<Share> ranked(Map<String, Double> bytes) {
    List<Share> ranked = new ArrayList<>(bytes.size());
    for (Map.Entry<String, Double> entry : bytes.entrySet()) {
      ranked.add(new Share(entry.getKey(), entry.getValue()));
    }
    ranked.sort(MOST_FIRST);
    return ranked;
  }

  public List<Share> choose(List<Share> ranked) {
    List<Share> chosen = new ArrayList<>();
    Set<String> names = new HashSet<>();
    double rest = 0;
    int rank = 0;
    for (Share share : ranked) {
      if (share.name().equals(SiteSummary.OTHER)) {
        rest += share.liveBytes();
        continue;
      }
      if (rank < top || rank < staying && in.contains(share.name())) {
        chosen.add(share);
        names.add(share.name());
      } else {
        rest += share.liveBytes();
      }
      rank++;
    }
    in = names;
    chosen.add(new Share(SiteSummary.OTHER, rest));
    return chosen;
  }
}
