package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Choice;
import io.mallometer.internal.text.TimeSpan;
import io.mallometer.model.CallSites;
import io.mallometer.model.Grouping;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.Owner;
import io.mallometer.model.SiteChange;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteOrder;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A query for call sites, as parameters. Each is null where it is left out.
 *
 * @param sort by which figure, largest first: {@code live}, {@code live-objects}, {@code
 *     allocated}, {@code allocated-objects} or {@code rate}; of changes {@code growth}, {@code
 *     live-objects} or {@code allocated}
 * @param group by what sites are taken together: {@code site}, {@code library}, {@code frame} or
 *     {@code package}
 * @param filter text that name, library or a frame must contain
 * @param owner {@code application}, {@code jvm}, {@code mallometer} or {@code all}; if left out
 *     {@code all} with a filter or by library, else {@code application}
 * @param limit how many at most
 * @param from the first of two moments, in ISO 8601, or a duration before now
 * @param to the second, likewise; now if left out
 * @param at instead of now a moment that is kept: {@code peak}, or {@code 85}, {@code 90} or {@code
 *     95}, the percent of the limit that were last crossed then
 */
public record SiteQuery(
    @Nullable String sort,
    @Nullable String group,
    @Nullable String filter,
    @Nullable String owner,
    @Nullable String limit,
    @Nullable String from,
    @Nullable String to,
    @Nullable String at) {

  /** The sites with most live bytes. */
  static final SiteQuery DEFAULT = new SiteQuery(null, null, null, null, null, null, null, null);

  private static final String ALL = "all";
  private static final String[] OWNERS = {
    Owner.APPLICATION.tag(), Owner.JVM.tag(), Owner.MALLOMETER.tag(), ALL
  };
  private static final int USUAL_LIMIT = 50;
  private static final int LARGEST_LIMIT = 10_000;
  private static final int LONGEST_SECONDS = 3_600;

  /** The query that parameters make; a report has some of them only. */
  static SiteQuery of(Map<String, String> parameters) {
    return new SiteQuery(
        parameters.get("sort"),
        parameters.get("group"),
        parameters.get("filter"),
        parameters.get("owner"),
        parameters.get("limit"),
        parameters.get("from"),
        parameters.get("to"),
        parameters.get("at"));
  }

  /** By which figure changes are sorted. */
  private enum ChangeOrder {
    GROWTH("growth", SiteChange.MOST_GROWTH_FIRST),
    LIVE_OBJECTS("live-objects", SiteChange.MOST_OBJECTS_FIRST),
    ALLOCATED("allocated", SiteChange.MOST_ALLOCATED_FIRST);

    final String id;
    final Comparator<SiteChange> comparator;

    ChangeOrder(String id, Comparator<SiteChange> comparator) {
      this.id = id;
      this.comparator = comparator;
    }
  }

  /**
   * Answers.
   *
   * @throws IllegalArgumentException with the reason, if a parameter is none of those that it may
   *     be, or nothing is known of the moments asked for
   */
  View answer(Mallometer mallometer) {
    int most = parsedLimit();
    if (at != null && (from != null || to != null)) {
      throw new IllegalArgumentException(
          "at names one moment and cannot be combined with from or to");
    }
    if (from != null) {
      return changes(mallometer, from, most);
    }
    if (to != null) {
      throw new IllegalArgumentException("to is the end of a change and needs from, its beginning");
    }
    SiteOrder order =
        sort == null ? SiteOrder.LIVE : Choice.of("sort", sort, SiteOrder.values(), SiteOrder::id);
    Optional<Grouping> grouping =
        Optional.ofNullable(group)
            .map(name -> Choice.of("group", name, Grouping.values(), Grouping::id));
    CallSites read = chosen(read(mallometer));
    Predicate<Owner> wanted = owners(grouping);
    CallSites sites =
        read.with(read.sites().stream().filter(site -> wanted.test(site.owner())).toList());
    return grouping.isPresent()
        ? SiteGroupsView.of(sites, grouping.get(), order, most)
        : SitesView.of(sites, order, most);
  }

  /** The sites of now, or of the moment that is asked for. */
  CallSites read(Mallometer mallometer) {
    return at == null
        ? mallometer.sites().read()
        : mallometer.sites().at(Choice.of("at", at, KeptMoment.values(), KeptMoment::id));
  }

  /** The changes that the filter lets through. */
  SiteChanges chosen(SiteChanges changes) {
    return filter == null || filter.isEmpty()
        ? changes
        : new SiteChanges(
            changes.from(),
            changes.to(),
            changes.changes().stream().filter(change -> change.mentions(filter)).toList(),
            changes.reason());
  }

  /**
   * Reads a number of seconds.
   *
   * @throws IllegalArgumentException if it is none, or more than the history has
   */
  static Duration span(String parameter, String text) {
    try {
      int seconds = Integer.parseInt(text);
      if (seconds >= 1 && seconds <= LONGEST_SECONDS) {
        return Duration.ofSeconds(seconds);
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "%s is '%s' and must be a whole number from 1 to %d"
            .formatted(parameter, text, LONGEST_SECONDS));
  }

  /** The sites that the filter lets through. */
  CallSites chosen(CallSites sites) {
    return filter == null || filter.isEmpty() ? sites : sites.mentioning(filter);
  }

  private Predicate<Owner> owners(Optional<Grouping> grouping) {
    boolean everything =
        filter != null && !filter.isEmpty()
            || grouping.filter(by -> by == Grouping.LIBRARY).isPresent();
    return owners(owner == null && everything ? ALL : owner);
  }

  /**
   * Which owners a parameter means.
   *
   * @param owner null for those of the application
   */
  static Predicate<Owner> owners(@Nullable String owner) {
    String wanted =
        owner == null
            ? Owner.APPLICATION.tag()
            : Choice.of("owner", owner, OWNERS, Function.identity());
    return one -> wanted.equals(ALL) || wanted.equals(one.tag());
  }

  private SiteChangesView changes(Mallometer mallometer, String from, int most) {
    if (group != null) {
      throw new IllegalArgumentException("changes are by site: group cannot be combined with from");
    }
    ChangeOrder order =
        sort == null
            ? ChangeOrder.GROWTH
            : Choice.of("sort", sort, ChangeOrder.values(), known -> known.id);
    Instant now = mallometer.clock().instant();
    Instant first = moment("from", from, now);
    Instant second = to == null ? now : moment("to", to, now);
    Predicate<Owner> wanted = owners(Optional.empty());
    return SiteChangesView.of(
        mallometer.sites().changes(first, second),
        change -> wanted.test(change.owner()) && (filter == null || change.mentions(filter)),
        order.comparator,
        most);
  }

  private int parsedLimit() {
    if (limit == null) {
      return USUAL_LIMIT;
    }
    try {
      int parsed = Integer.parseInt(limit);
      if (parsed >= 1 && parsed <= LARGEST_LIMIT) {
        return parsed;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "limit is '%s' and must be a whole number from 1 to %d".formatted(limit, LARGEST_LIMIT));
  }

  private static Instant moment(String parameter, String text, Instant now) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      // Perhaps a duration.
    }
    try {
      Optional<Instant> before = TimeSpan.parse(text).map(now::minus);
      if (before.isPresent()) {
        return before.get();
      }
    } catch (DateTimeException | ArithmeticException e) {
      // Before all time. Told below.
    }
    throw new IllegalArgumentException(
        "%s is '%s' and must be a time such as 2026-01-01T00:00:00Z, or a duration before now such as 10m"
            .formatted(parameter, text));
  }

  /** At most so many rows. */
  static <T> List<T> first(List<T> all, int most) {
    return all.subList(0, Math.min(most, all.size()));
  }
}
