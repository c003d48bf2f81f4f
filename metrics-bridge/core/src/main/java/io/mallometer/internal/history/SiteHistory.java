package io.mallometer.internal.history;

import io.mallometer.internal.history.FallingResolution.Dated;
import io.mallometer.internal.history.FallingResolution.Span;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.SiteChange;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteGroup;
import io.mallometer.model.SiteTrends;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The live memory of the call sites in the last hour. Readings of the last ten minutes are stored
 * at intervals of about 15 s or more, and older readings at intervals of about a minute or more.
 * Thread-safe.
 *
 * <p>Takes at most 8.6 MiB (92 moments of 4,096 sites with 24 bytes each), and about 1.1 MiB with
 * 500 sites. Stacks are not kept, because later readings have them.
 */
public final class SiteHistory {

  /**
   * The largest difference between a requested time and the time of the stored moment that is used
   * for it. It is twice the interval of one minute at which older moments are stored.
   */
  private static final Duration TOO_FAR = Duration.ofMinutes(2);

  private static final int MOST_STACKS = 3;

  private final FallingResolution<SiteMoment> moments =
      new FallingResolution<>(
          new Span(Duration.ofSeconds(15), Duration.ofMinutes(10)),
          new Span(Duration.ofMinutes(1), Duration.ofHours(1)));

  private Instant beginning = Instant.MAX;
  private Optional<Long> withoutSites = Optional.empty();

  /**
   * Adds a reading of the call sites, unless the latest stored one is too recent. A reading without
   * sites restarts the rates, which are then computed only from later readings.
   */
  public synchronized void add(CallSites read, long nanoTime) {
    if (read.sites().isEmpty()) {
      withoutSites = Optional.of(nanoTime);
      return;
    }
    if (beginning.equals(Instant.MAX)) {
      beginning = read.time();
    }
    moments.add(nanoTime, () -> SiteMoment.of(read));
  }

  /**
   * Returns a reading with the allocation rates of its sites. Keeps rates that sites already have.
   *
   * @param nanoTime the time by the clock of {@link #add}
   */
  public synchronized CallSites withRates(CallSites read, long nanoTime) {
    List<Dated<SiteMoment>> since = new ArrayList<>();
    for (Dated<SiteMoment> moment : moments.dated()) {
      if (withoutSites.isEmpty() || moment.nanos() - withoutSites.get() > 0) {
        since.add(moment);
      }
    }
    SiteRates rates = new SiteRates(since, nanoTime);
    List<CallSite> sites = new ArrayList<>(read.sites().size());
    for (CallSite site : read.sites()) {
      sites.add(rates.of(site));
    }
    return read.with(sites);
  }

  /**
   * Returns the changes between the stored moments nearest to {@code from} and {@code to}. If
   * {@code from} is before the first reading, the changes begin with that reading if it is still
   * stored, and the result says so.
   *
   * @param now the latest reading. It provides the stacks, and is used like a further stored moment
   */
  public SiteChanges changes(Instant from, Instant to, CallSites now) {
    if (now.sites().isEmpty()) {
      return SiteChanges.none(
          "there are no call sites to compare"
              + (now.reason().isEmpty() ? "" : ": ")
              + now.reason());
    }
    List<SiteMoment> known = known(now);
    Optional<SiteMoment> near = nearest(known, from);
    Optional<SiteMoment> first = near.or(() -> beginning(known, from));
    Optional<SiteMoment> second = nearest(known, to);
    if (first.isEmpty() || second.isEmpty()) {
      return SiteChanges.none(
          "nothing is known about %s: %s".formatted(first.isEmpty() ? from : to, kept(known)));
    }
    if (!first.get().time().isBefore(second.get().time())) {
      return SiteChanges.none(
          "there are not two snapshots between %s and %s: %s".formatted(from, to, kept(known)));
    }
    String reason =
        near.isPresent()
            ? ""
            : "call sites are known only since %s: nothing is known about %s"
                .formatted(first.get().time(), from);
    return changes(first.get(), second.get(), now, reason);
  }

  /**
   * Returns the changes in a period until {@code now}. The period has the length {@code over} and
   * ends at {@code now}. The changes begin at the stored moment nearest to the beginning of the
   * period. A moment in the second half of the period is used only if no older moment is stored.
   *
   * <p>If the first reading came more than {@link #TOO_FAR} after the beginning of the period, the
   * changes begin with that reading, and the result says so.
   */
  public SiteChanges changes(Duration over, CallSites now) {
    if (now.sites().isEmpty()) {
      return changes(now.time(), now.time(), now);
    }
    List<SiteMoment> known = known(now);
    List<SiteMoment> earlier = before(known, now.time().minus(over.dividedBy(2)));
    if (earlier.isEmpty()) {
      earlier = before(known, now.time());
    }
    if (earlier.isEmpty()) {
      return SiteChanges.none(
          "nothing is known about the time before %s yet".formatted(now.time()));
    }
    Instant asked = now.time().minus(over);
    Optional<SiteMoment> near = nearest(earlier, asked);
    return changes(near.isPresent() ? near.get().time() : asked, now.time(), now);
  }

  private static List<SiteMoment> before(List<SiteMoment> known, Instant time) {
    return known.stream().filter(moment -> moment.time().isBefore(time)).toList();
  }

  /**
   * Returns the live bytes, at each stored moment and now, of the largest groups of sites and of
   * those that grew most. A site that was too small to be stored at a moment counts as 0.
   *
   * @param now the latest reading, which has the stacks
   * @param keyOf the group of a site
   * @param most the largest number of groups of either kind
   */
  public SiteTrends trends(CallSites now, Function<CallSite, String> keyOf, int most) {
    List<SiteMoment> known = known(now);
    Map<String, List<CallSite>> members =
        now.sites().stream().collect(Collectors.groupingBy(keyOf));
    Map<String, Double> growth = new HashMap<>();
    if (!known.isEmpty()) {
      SiteMoment first = known.get(0);
      SiteMoment last = known.get(known.size() - 1);
      members.forEach((key, sites) -> growth.put(key, held(sites, last) - held(sites, first)));
    }
    List<SiteGroup> all = now.groupedBy(keyOf);
    Set<String> chosen = new HashSet<>();
    all.stream().limit(most).forEach(group -> chosen.add(group.key()));
    growth.entrySet().stream()
        .filter(grown -> grown.getValue() > 0)
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .limit(most)
        .forEach(grown -> chosen.add(grown.getKey()));
    return new SiteTrends(
        known.stream().map(SiteMoment::time).toList(),
        all.stream()
            .filter(group -> chosen.contains(group.key()))
            .map(group -> group(group, members.getOrDefault(group.key(), List.of()), known))
            .toList(),
        now.reason());
  }

  private static SiteTrends.Group group(
      SiteGroup figures, List<CallSite> members, List<SiteMoment> known) {
    return new SiteTrends.Group(
        figures,
        known.stream().map(moment -> held(members, moment)).toList(),
        members.stream().limit(MOST_STACKS).toList());
  }

  private static double held(List<CallSite> sites, SiteMoment moment) {
    return sites.stream()
        .mapToDouble(site -> SiteMoment.orNone(moment.liveBytes(site.number())))
        .sum();
  }

  private static SiteChanges changes(
      SiteMoment first, SiteMoment second, CallSites now, String reason) {
    return new SiteChanges(
        Optional.of(first.time()),
        Optional.of(second.time()),
        now.sites().stream()
            .map(site -> change(site, first, second))
            .filter(SiteChange::moved)
            .sorted(SiteChange.MOST_GROWTH_FIRST)
            .toList(),
        reason);
  }

  private static SiteChange change(CallSite site, SiteMoment first, SiteMoment second) {
    int number = site.number();
    return new SiteChange(
        number,
        site.name(),
        site.library(),
        site.frames(),
        new SiteChange.Live(
            first.liveBytes(number),
            second.liveBytes(number),
            first.liveObjects(number),
            second.liveObjects(number)),
        second.allocatedBytes(number) - first.allocatedBytes(number),
        second.allocatedObjects(number) - first.allocatedObjects(number));
  }

  private synchronized List<SiteMoment> known(CallSites now) {
    List<SiteMoment> known = new ArrayList<>(moments.points());
    if (!now.sites().isEmpty()
        && (known.isEmpty() || known.get(known.size() - 1).time().isBefore(now.time()))) {
      known.add(SiteMoment.of(now));
    }
    return known;
  }

  private synchronized Optional<SiteMoment> beginning(List<SiteMoment> known, Instant asked) {
    SiteMoment oldest = known.get(0);
    return oldest.time().equals(beginning) && asked.isBefore(beginning)
        ? Optional.of(oldest)
        : Optional.empty();
  }

  private static Optional<SiteMoment> nearest(List<SiteMoment> known, Instant asked) {
    return known.stream()
        .filter(moment -> distance(moment, asked).compareTo(TOO_FAR) <= 0)
        .min(Comparator.comparing(moment -> distance(moment, asked)));
  }

  private static Duration distance(SiteMoment moment, Instant asked) {
    return Duration.between(moment.time(), asked).abs();
  }

  private static String kept(List<SiteMoment> known) {
    return "call sites are known from %s to %s"
        .formatted(known.get(0).time(), known.get(known.size() - 1).time());
  }
}
