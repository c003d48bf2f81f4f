package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Choice;
import io.mallometer.internal.text.TimeSpan;
import io.mallometer.model.CallSites;
import io.mallometer.model.CodeOwner;
import io.mallometer.model.Grouping;
import io.mallometer.model.KeptMoment;
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
 * A query for call sites, by the parameters of a request. An omitted parameter is null.
 *
 * @param sort the value to sort by, largest first: {@code live}, {@code live-objects}, {@code
 *     allocated}, {@code allocated-objects} or {@code rate}; for changes {@code growth}, {@code
 *     live-objects} or {@code allocated}
 * @param group the grouping: {@code site}, {@code library}, {@code frame} or {@code package}
 * @param filter the text that the name, the library or a frame must contain
 * @param owner {@code application}, {@code jvm}, {@code mallometer} or {@code all}. The default is
 *     {@code all} with a filter or with the grouping {@code library}, else {@code application}
 * @param limit the largest number of rows
 * @param from the first of two moments: a time in ISO 8601, or a duration before now
 * @param to the second moment: a time in ISO 8601, or a duration before now; now if omitted
 * @param at a stored moment instead of the present: {@code peak}; {@code live-size} when live bytes
 *     last exceeded a monitor's size; or {@code 85}, {@code 90} or {@code 95} for the latest moment
 *     above this percentage of the limit
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

  static final SiteQuery DEFAULT = new SiteQuery(null, null, null, null, null, null, null, null);

  private static final String ALL = "all";
  private static final String[] OWNERS = {
    CodeOwner.APPLICATION.tag(), CodeOwner.JVM.tag(), CodeOwner.MALLOMETER.tag(), ALL
  };
  private static final int DEFAULT_LIMIT = 50;
  private static final int LARGEST_LIMIT = 10_000;
  private static final int LONGEST_SECONDS = 3_600;

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
   * Answers the query.
   *
   * @throws IllegalArgumentException if a parameter is not allowed, or nothing is known about a
   *     requested moment; the message states the reason
   */
  View answer(Mallometer mallometer) {
    int most = limit == null ? DEFAULT_LIMIT : number("limit", limit, 1, LARGEST_LIMIT);
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
    Predicate<CodeOwner> wanted = owners(grouping);
    CallSites sites =
        read.with(read.sites().stream().filter(site -> wanted.test(site.codeOwner())).toList());
    return grouping.isPresent()
        ? SiteGroupsView.of(sites, grouping.get(), order, most)
        : SitesView.of(sites, order, most);
  }

  CallSites read(Mallometer mallometer) {
    return at == null
        ? mallometer.sites().read()
        : mallometer.sites().at(Choice.of("at", at, KeptMoment.values(), KeptMoment::id));
  }

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
   * @throws IllegalArgumentException if it is not a number, or longer than the history
   */
  static Duration span(String parameter, String text) {
    return Duration.ofSeconds(number(parameter, text, 1, LONGEST_SECONDS));
  }

  static int number(String parameter, String text, int least, int most) {
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The exception below names the parameter.
    }
    throw new IllegalArgumentException(
        "%s is '%s' and must be a whole number from %d to %d"
            .formatted(parameter, text, least, most));
  }

  CallSites chosen(CallSites sites) {
    return filter == null || filter.isEmpty() ? sites : sites.mentioning(filter);
  }

  private Predicate<CodeOwner> owners(Optional<Grouping> grouping) {
    boolean everything =
        filter != null && !filter.isEmpty()
            || grouping.filter(by -> by == Grouping.LIBRARY).isPresent();
    return owners(owner == null && everything ? ALL : owner);
  }

  /**
   * Returns a filter of call sites by the owner of their code.
   *
   * @param owner the value of the request's parameter; null selects the application
   */
  static Predicate<CodeOwner> owners(@Nullable String owner) {
    String wanted =
        owner == null
            ? CodeOwner.APPLICATION.tag()
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
    Predicate<CodeOwner> wanted = owners(Optional.empty());
    return SiteChangesView.of(
        mallometer.sites().changes(first, second),
        change -> wanted.test(change.codeOwner()) && (filter == null || change.mentions(filter)),
        order.comparator,
        most);
  }

  private static Instant moment(String parameter, String text, Instant now) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      // The text may be a duration, which is tried next.
    }
    try {
      Optional<Instant> before = TimeSpan.parse(text).map(now::minus);
      if (before.isPresent()) {
        return before.get();
      }
    } catch (DateTimeException | ArithmeticException e) {
      // A duration whose result is outside the range of Instant is refused below.
    }
    throw new IllegalArgumentException(
        "%s is '%s' and must be a time such as 2026-01-01T00:00:00Z, or a duration before now such as 10m"
            .formatted(parameter, text));
  }

  static <T> List<T> first(List<T> all, int most) {
    return all.subList(0, Math.min(most, all.size()));
  }
}
