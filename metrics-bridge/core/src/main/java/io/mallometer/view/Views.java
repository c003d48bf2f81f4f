package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Choice;
import io.mallometer.internal.text.TimeSpan;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.CodeOwner;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Grouping;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.PoolReport;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.TrimReport;
import io.mallometer.model.Verdict;
import io.mallometer.report.LeakFormat;
import io.mallometer.report.ReportFormat;
import io.mallometer.report.ReportMetric;
import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The views of a process, by name. To add a view, add its name to {@link #NAMES}, and the view to
 * {@link #view} or, if it takes parameters, to {@link #answer}.
 */
public final class Views {

  private static final String CLASS_LOADERS = "classloaders";

  /** The names of the JSON views. {@link #answer} also takes the names of report formats. */
  public static final List<String> NAMES =
      List.of(
          "breakdown",
          "cgroup",
          "budget",
          CLASS_LOADERS,
          "allocator",
          "pools",
          "history",
          "sites",
          "leaks",
          "owners",
          "diagnosis",
          "overview",
          "trends",
          "recording");

  /** The first element of the path of a request for several views; see {@link #together}. */
  public static final String TOGETHER = "views";

  /** The name by which {@link #evidence} is requested. */
  public static final String EVIDENCE = "evidence";

  private static final DateTimeFormatter EVIDENCE_TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final Set<String> WITHOUT_PARAMETERS = Set.of("nativememory", TOGETHER, EVIDENCE);

  /** The view whose requests {@link ViewerPace} counts. Open pages request it in each interval. */
  private static final String PACED = "overview";

  private static final int MOST_LINKS = 8;

  private static final Duration LONGEST_PAUSE = Duration.ofHours(1);

  private static final String JSON = "application/json";

  /**
   * Parameters that change the answer of a view. Requests with one of them are not answered with
   * the stored JSON, which was written for a request without parameters.
   */
  private static final List<String> ALONE = List.of("all", "owner", "format");

  private final Mallometer mallometer;
  private final boolean trimAllowed;
  private final boolean ownersAllowed;
  private final ViewerPace pace;

  /** The stored JSON of the views that an open page requests repeatedly, by name. */
  private final Map<String, CachedJson> watched;

  /**
   * Creates the views of a process. Web pages may offer neither {@link #trim()} nor a search for
   * {@link #owners}.
   */
  public Views(Mallometer mallometer) {
    this(mallometer, false);
  }

  /**
   * Creates the views of a process. The caller must refuse requests that are not allowed.
   *
   * @param trimAllowed whether web pages may offer {@link #trim()} and a search for {@link #owners}
   */
  public Views(Mallometer mallometer, boolean trimAllowed) {
    this(mallometer, trimAllowed, trimAllowed);
  }

  /**
   * Creates views with two permissions. The caller must refuse requests that are not allowed.
   *
   * @param trimAllowed whether web pages may offer {@link #trim()}
   * @param ownersAllowed whether web pages may offer a search for {@link #owners}
   */
  public Views(Mallometer mallometer, boolean trimAllowed, boolean ownersAllowed) {
    this.mallometer = mallometer;
    this.trimAllowed = trimAllowed;
    this.ownersAllowed = ownersAllowed;
    Clock clock = mallometer.clock();
    this.pace = new ViewerPace(clock);
    Supplier<?> leaks = mallometer.leaks()::report;
    this.watched =
        Map.of(
            // The overview is written again after 5 s, or at once after a new snapshot or leak
            // report.
            PACED,
            new CachedJson(clock, 5, this::overview, mallometer::snapshot, leaks),
            "history",
            new CachedJson(clock, 5, this::history),
            "leaks",
            new CachedJson(clock, 5, this::leaks, leaks),
            // A new leak report also renews the trends, because the page must show both for the
            // same point in time.
            "trends",
            new CachedJson(clock, 30, this::trends, leaks),
            "recording",
            new CachedJson(clock, 5, () -> RecordingView.of(mallometer)));
  }

  private OverviewView overview() {
    return OverviewView.of(mallometer, trimAllowed, pace.seconds());
  }

  private HistoryView history() {
    return HistoryView.of(mallometer.history().memory(), mallometer.history().points());
  }

  private View leaks() {
    return new View.Of(mallometer.leaks().report().suspicious());
  }

  private TrendsView trends() {
    return TrendsView.of(
        mallometer.sites().trends(Grouping.LIBRARY, TrendsView.MOST),
        mallometer.sites().trends(Grouping.SITE, TrendsView.MOST));
  }

  /** Returns the latest snapshot; makes no native call. */
  public NativeMemoryView nativeMemory() {
    return NativeMemoryView.of(
        mallometer.snapshot(), mallometer.clock(), mallometer.leaks().report().observation());
  }

  /**
   * Returns a view for a request without parameters.
   *
   * @param name one of {@link #NAMES}
   * @return the view; empty for any other name
   */
  public Optional<View> view(String name) {
    Snapshot snapshot = mallometer.snapshot();
    ProcessMemory memory = snapshot.memory();
    return Optional.ofNullable(
        switch (name) {
          case "breakdown" -> new View.Of(memory.resident());
          case "cgroup" -> new View.Of(memory.cgroup());
          case "budget" -> new View.Of(memory.budget());
          case CLASS_LOADERS -> new View.Of(mallometer.classLoaders());
          case "allocator" -> new View.Of(snapshot.allocator());
          case "pools" -> new View.Of(mallometer.allocator().pools());
          case "diagnosis" -> new View.Of(snapshot.diagnosis());
          case "overview" -> overview();
          case "history" -> history();
          case "trends" -> trends();
          case "recording" -> RecordingView.of(mallometer);
          case "sites" -> SiteQuery.DEFAULT.answer(mallometer);
          case "leaks" -> leaks();
          case "owners" -> OwnersView.of(mallometer, ownersAllowed);
          default -> null;
        });
  }

  /**
   * Answers a request that changes nothing. The request for {@code leaks} is refused if accesses to
   * objects are not observed and no call site is suspected.
   *
   * @param name one of {@link #NAMES} or of {@link ReportFormat}
   * @param parameters the parameters by name; an unknown name is refused. {@code sites} takes the
   *     parameters of {@link SiteQuery}. Reports take {@code filter}, {@code at} and {@code metric}
   *     (the value to report); {@code pprof} also takes {@code seconds} (the time over which
   *     changes are reported). {@code leaks} takes {@code owner}, {@code all} (whether to include
   *     healthy sites) and {@code format} ({@code json}, {@code text} or {@code html})
   */
  public Answer answer(String name, Map<String, String> parameters) {
    Optional<Told> refusal = refusal(name, parameters.keySet());
    if (refusal.isPresent()) {
      return refusal.get();
    }
    try {
      Optional<ReportFormat> format = ReportFormat.byId(name);
      if (format.isPresent()) {
        return report(format.get(), parameters);
      }
      if (name.equals("leaks") && !parameters.containsKey("format") && notObserved(parameters)) {
        return Told.refused(
            Outcome.UNSUPPORTED,
            "no call site is a suspect, and accesses to objects are not observed: "
                + mallometer.leaks().report().observation().reason());
      }
      @Nullable CachedJson once = watched.get(name);
      if (once != null && ALONE.stream().noneMatch(parameters::containsKey)) {
        return new Answer.Exported(JSON, new Answer.Written(bytes(name, once)));
      }
      return switch (name) {
        case "sites" -> Told.ok(SiteQuery.of(parameters).answer(mallometer));
        case "leaks" -> leaks(parameters);
        default -> view(name).map(Told::ok).orElseGet(() -> unknown(name));
      };
    } catch (IllegalArgumentException e) {
      return Told.refused(Outcome.WRONG, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Answers with several views in one JSON object, by name. One request for all views takes less
   * time than a request for each.
   *
   * @param names the names of the views, separated by commas. Only views that the page requests
   *     repeatedly are allowed. The value of a view that fails is null
   */
  public Answer together(String names) {
    Set<String> asked = new LinkedHashSet<>(List.of(names.split(",", -1)));
    if (!watched.keySet().containsAll(asked)) {
      return Told.refused(
          Outcome.UNKNOWN,
          "'%s' cannot be requested together; %s can"
              .formatted(names, String.join(",", new TreeSet<>(watched.keySet()))));
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (String name : asked) {
      body.writeBytes(utf8((body.size() == 0 ? "{\"" : ",\"") + name + "\":"));
      body.writeBytes(bytesOrNull(name));
    }
    body.write('}');
    return new Answer.Exported(JSON, new Answer.Written(body.toByteArray()));
  }

  /**
   * Answers with the evidence bundle, a zip of all views. The texts in it contain neither secrets
   * nor memory addresses, but recordings are included unchanged.
   *
   * @param settings mallometer's settings by name, without system properties and environment
   *     variables
   */
  public Answer evidence(Map<String, String> settings) {
    return new Answer.Exported(
        EvidenceBundle.CONTENT_TYPE, out -> EvidenceBundle.write(mallometer, this, settings, out));
  }

  /** Returns a file name for the evidence bundle, with the process id and the time in UTC. */
  public String evidenceName() {
    return "mallometer-%d-%s.zip"
        .formatted(
            ProcessHandle.current().pid(), EVIDENCE_TIME.format(mallometer.clock().instant()));
  }

  private byte[] bytes(String name, CachedJson view) {
    if (name.equals(PACED)) {
      pace.asked();
    }
    return view.bytes();
  }

  private byte[] bytesOrNull(String name) {
    try {
      return bytes(name, watched.get(name));
    } catch (RuntimeException | LinkageError e) {
      return utf8("null");
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns whether the list of call sites is empty because accesses to objects are not observed.
   * Such a list must not be shown, because it would mean that the process has no leaks.
   */
  private boolean notObserved(Map<String, String> parameters) {
    LeakReport report = mallometer.leaks().report();
    boolean judged = !report.time().equals(Instant.EPOCH);
    boolean empty = all(parameters) ? report.sites().isEmpty() : report.suspicious().isEmpty();
    return judged
        && empty
        && !report.observation().hasSeen()
        && !report.observation().reason().isEmpty();
  }

  private Answer leaks(Map<String, String> parameters) {
    LeakReport report = chosen(mallometer.leaks().report(), parameters);
    @Nullable String format = parameters.get("format");
    if (format == null || format.equals("json")) {
      return Told.ok(new View.Of(report.sites()));
    }
    LeakFormat wanted = Choice.of("format", format, LeakFormat.values(), LeakFormat::id);
    return new Answer.Exported(wanted.contentType(), out -> wanted.write(report, true, out));
  }

  private static LeakReport chosen(LeakReport report, Map<String, String> parameters) {
    boolean all = all(parameters);
    Predicate<CodeOwner> wanted = SiteQuery.owners(parameters.get("owner"));
    return report.with(
        report.sites().stream()
            .filter(site -> all || site.verdict() != Verdict.HEALTHY)
            .filter(site -> wanted.test(site.site().codeOwner()))
            .toList());
  }

  private static boolean all(Map<String, String> parameters) {
    return switch (parameters.getOrDefault("all", "false")) {
      case "true", "" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(
              "all is '%s' and must be true or false".formatted(parameters.get("all")));
    };
  }

  private Answer report(ReportFormat format, Map<String, String> parameters) {
    SiteQuery query = SiteQuery.of(parameters);
    @Nullable String metric = parameters.get("metric");
    if (ReportFormat.RESIDENT.equals(metric)) {
      return resident(format, query);
    }
    ReportMetric figure =
        metric == null
            ? ReportMetric.LIVE_BYTES
            : Choice.of("metric", metric, ReportMetric.values(), ReportMetric::id);
    @Nullable String seconds = parameters.get("seconds");
    if (seconds != null && query.at() != null) {
      throw new IllegalArgumentException("at names one moment and cannot be combined with seconds");
    }
    CallSites all = query.read(mallometer);
    if (all.sites().isEmpty() && !all.reason().isEmpty()) {
      return Told.refused(Outcome.UNSUPPORTED, all.reason());
    }
    if (seconds != null) {
      return difference(query, SiteQuery.span("seconds", seconds), figure, all);
    }
    CallSites chosen = query.chosen(all);
    return new Answer.Exported(format.contentType(), out -> format.write(chosen, figure, out));
  }

  private Answer resident(ReportFormat format, SiteQuery query) {
    if (!format.showsResident() || query.at() != null) {
      throw new IllegalArgumentException(
          "metric=resident is a figure of now, in the formats flamegraph and collapsed");
    }
    ResidentStacks read = mallometer.sites().resident();
    if (read.stacks().isEmpty()) {
      return Told.refused(Outcome.UNSUPPORTED, read.reason());
    }
    @Nullable String filter = query.filter();
    ResidentStacks chosen = filter == null || filter.isEmpty() ? read : read.mentioning(filter);
    return new Answer.Exported(format.contentType(), out -> format.write(chosen, out));
  }

  /**
   * Returns the changes of the call sites in the given time until now. The earlier figures are
   * stored already, so the request need not wait for the time to pass.
   */
  private Answer difference(SiteQuery query, Duration over, ReportMetric figure, CallSites now) {
    SiteChanges changes = query.chosen(mallometer.sites().changes(over, now));
    if (changes.from().isEmpty()) {
      return Told.refused(Outcome.UNSUPPORTED, changes.reason());
    }
    return new Answer.Exported(
        ReportFormat.PPROF.contentType(),
        out -> ReportFormat.writeChanges(changes, now, figure, out));
  }

  /**
   * Returns the record class of each view's answer, by the name of the view. A native image
   * registers these classes for reflection, and the list of public names is generated from them.
   */
  public static Map<String, Class<? extends Record>> kinds() {
    return Map.ofEntries(
        Map.entry("allocator", AllocatorStatistics.class),
        Map.entry("recording", RecordingView.class),
        Map.entry("breakdown", ResidentMemory.class),
        Map.entry("budget", MemoryBudget.class),
        Map.entry("cgroup", CgroupMemory.class),
        Map.entry(CLASS_LOADERS, ClassLoaders.class),
        Map.entry("diagnosis", Diagnosis.class),
        Map.entry("history", HistoryView.class),
        Map.entry("leaks []", SiteVerdict.class),
        Map.entry("nativememory", NativeMemoryView.class),
        Map.entry("pools", PoolReport.class),
        Map.entry("owner-report", OwnerReport.class),
        Map.entry("owners", OwnersView.class),
        Map.entry("overview", OverviewView.class),
        Map.entry("refusal", RefusalView.class),
        Map.entry("sites", SitesView.class),
        Map.entry("sites?from", SiteChangesView.class),
        Map.entry("sites?group", SiteGroupsView.class),
        Map.entry("trends", TrendsView.class),
        Map.entry("trim", TrimReport.class));
  }

  /** Returns every name that {@link #answer} knows. */
  public static List<String> names() {
    return Stream.concat(NAMES.stream(), Stream.of(ReportFormat.values()).map(ReportFormat::id))
        .toList();
  }

  /**
   * Refuses a request with a parameter that its view does not have.
   *
   * @param name a name that {@link #answer} takes
   * @param parameters the names of the request's parameters
   * @return the refusal; empty if the view has all parameters, or if there is no such view
   */
  public static Optional<Told> refusal(String name, Collection<String> parameters) {
    try {
      if (names().contains(name) || WITHOUT_PARAMETERS.contains(name)) {
        ParameterNames.check(name, parameters, ParameterNames.of(name));
      }
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(Told.refused(Outcome.WRONG, String.valueOf(e.getMessage())));
    }
  }

  /** Returns the refusal of a request for a view that does not exist. */
  public static Told unknown(String name) {
    return Told.refused(
        Outcome.UNKNOWN,
        "there is no '%s'; there are %s; and page, %s, and %s/NAME,NAME"
            .formatted(name, String.join(", ", names()), EVIDENCE, TOGETHER));
  }

  /** Returns the refusal of a POST or DELETE request to a path that does not allow it. */
  public static Told nothingToChange() {
    return Told.refused(
        Outcome.UNKNOWN,
        "this path takes neither POST nor DELETE; trim, evidence and owners/NUMBER take"
            + " POST, and leaks/NAME takes POST and DELETE");
  }

  /**
   * Marks all call sites of a name as acknowledged, whatever their verdict, or removes this mark.
   *
   * @param site the name; {@code *} at its end stands for any further characters
   * @return the verdicts; {@link Outcome#UNKNOWN} for a name that no call site has
   */
  public Told acknowledgeLeak(String site, boolean acknowledged) {
    if (acknowledged && !isKnown(site)) {
      return Told.refused(
          Outcome.UNKNOWN,
          "no call site is named '%s'; leaks?all=true and sites?group=site list the names"
              .formatted(site));
    }
    mallometer.leaks().acknowledge(site, acknowledged);
    return Told.ok(leaks());
  }

  private boolean isKnown(String site) {
    Predicate<String> named =
        site.endsWith("*")
            ? name -> name.startsWith(site.substring(0, site.length() - 1))
            : site::equals;
    return mallometer.leaks().report().sites().stream()
            .anyMatch(verdict -> named.test(verdict.site().name()))
        || mallometer.sites().read().sites().stream().anyMatch(known -> named.test(known.name()));
  }

  /**
   * Searches the Java heap for the objects that hold a call site's memory. The search pauses the
   * program.
   *
   * @param site the call site's number
   * @param parameters {@code links}, 0 to 8, is the number of references to follow from the found
   *     objects to those that keep them alive; the default is 0. {@code pause} and {@code total}
   *     limit the pauses; only operators of the process may set them
   * @return the report; its status is 429 if the search was refused, and 501 if this process cannot
   *     search
   */
  public Told owners(String site, Map<String, String> parameters) {
    try {
      int number = SiteQuery.number("the site's number", site, 0, Integer.MAX_VALUE);
      int links = SiteQuery.number("links", parameters.getOrDefault("links", "0"), 0, MOST_LINKS);
      OwnerReport report =
          parameters.containsKey("pause") || parameters.containsKey("total")
              ? mallometer.leaks().owners(number, links, budget(parameters))
              : mallometer.leaks().owners(number, links);
      return new Told(
          switch (report.outcome()) {
            case DONE -> Outcome.OK;
            case REFUSED -> Outcome.TOO_EARLY;
            case UNSUPPORTED -> Outcome.UNSUPPORTED;
          },
          new View.Of(report));
    } catch (IllegalArgumentException e) {
      return Told.refused(Outcome.WRONG, String.valueOf(e.getMessage()));
    }
  }

  private static OwnerBudget budget(Map<String, String> parameters) {
    OwnerBudget usual = OwnerBudget.of(MallometerOptions.defaults());
    Duration pause = span("pause", parameters, usual.pause());
    Duration total = span("total", parameters, usual.total());
    return new OwnerBudget(pause, total.compareTo(pause) < 0 ? pause : total);
  }

  private static Duration span(String name, Map<String, String> parameters, Duration usual) {
    @Nullable String text = parameters.get(name);
    if (text == null) {
      return usual;
    }
    return TimeSpan.parse(text)
        .filter(span -> !span.isZero() && span.compareTo(LONGEST_PAUSE) <= 0)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s is '%s' and must be a time such as 500ms or 3s, and at most an hour"
                        .formatted(name, text)));
  }

  /** Makes the allocator return free memory to the system; may take seconds. */
  public Told trim() {
    TrimReport report = mallometer.allocator().trim();
    return new Told(
        switch (report.outcome()) {
          case DONE -> Outcome.OK;
          case REFUSED -> Outcome.TOO_EARLY;
          case UNSUPPORTED -> Outcome.UNSUPPORTED;
        },
        new View.Of(report));
  }
}
