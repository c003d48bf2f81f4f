package io.mallometer.internal.owner;

import io.mallometer.internal.library.HeapGraph;
import io.mallometer.internal.library.HeapGraph.HeapObject;
import io.mallometer.internal.library.HeapGraph.Hold;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.OwnerReport.Holding;
import io.mallometer.model.OwnerReport.Path;
import io.mallometer.model.OwnerReport.Way;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the Java fields that own sampled native objects, in the result of a walk over the heap. A
 * field is an owner if it contains the addresses of at least two samples and of at least 30 % of
 * the live samples.
 */
public final class OwnerFinder {

  /**
   * The fewest samples from which an owner is named, because a Java {@code long} may equal one
   * address by chance.
   */
  public static final int FEWEST_SAMPLES = 2;

  private static final double LEAST_SHARE = 0.3;

  /** The 97.5 % quantile of the normal distribution, for intervals of 95 %. */
  private static final double NORMAL_QUANTILE = 1.96;

  /**
   * JNA's list of all its memory is a static field of this class. The list refers to the memory
   * weakly, so it is not an owner.
   */
  private static final String JNA_MEMORY_CLASS = "com.sun.jna.Memory";

  private static final String JNA_MEMORY_FIELD = "allocatedMemory";
  private static final String BOOKKEEPING = " (bookkeeping of all memory of JNA, no owner)";

  private OwnerFinder() {}

  private record Field(String holder, boolean throughNative, boolean ofGarbage) {}

  private static final class HoldersOfField {
    /**
     * Maps each sample to the objects that contain its address in this field. For a static field,
     * the set of objects is empty.
     */
    final Map<Integer, Set<Integer>> samples = new HashMap<>();

    String holder = "";
    boolean isStatic;
  }

  /**
   * Returns the fields that contain the addresses of the live samples, and the reference paths that
   * keep the objects with these fields alive. Results that name an owner come first.
   *
   * @param linked whether the search followed references; otherwise the results have no paths
   */
  public static List<Way> ways(HeapGraph graph, boolean linked) {
    int live = graph.samples() - graph.freed();
    Map<Field, HoldersOfField> groups = new LinkedHashMap<>();
    Set<Integer> held = new HashSet<>();
    for (Hold hold : graph.holds()) {
      if (!hold.freed()) {
        add(groups, hold, isGarbage(graph, hold));
        held.add(hold.sample());
      }
    }
    List<Way> ways = new ArrayList<>();
    Set<Integer> firm = new HashSet<>();
    Map<Field, HoldersOfField> ofGarbage = new LinkedHashMap<>();
    RetentionPathFinder pathFinder = new RetentionPathFinder(graph.objects());
    groups.forEach(
        (field, group) -> {
          if (isEnough(group.samples.size(), live)) {
            Way way = way(field, group, live, linked, pathFinder, graph.objects());
            if (isOfGarbage(way)) {
              ofGarbage.put(field, group);
            } else {
              ways.add(way);
              if (!isBookkeeping(way)) {
                firm.addAll(group.samples.keySet());
              }
            }
          }
        });
    // A sample that has an owner is not reported as garbage, even if an unreachable object also
    // contains the sample's address.
    ofGarbage.forEach(
        (field, group) -> {
          group.samples.keySet().removeAll(firm);
          if (isEnough(group.samples.size(), live)) {
            ways.add(way(field, group, live, linked, pathFinder, graph.objects()));
          }
        });
    int withoutHolder = Math.max(0, live - held.size());
    if (withoutHolder > 0 && live >= FEWEST_SAMPLES) {
      ways.add(way(Holding.NOBODY, "", withoutHolder, live, false, List.of()));
    }
    ways.sort(
        Comparator.comparing(OwnerFinder::isBookkeeping)
            .thenComparing(OwnerFinder::isRestWithoutHolder)
            .thenComparing(Way::throughNative)
            .thenComparing(Way::holding)
            .thenComparing(Comparator.comparingInt(Way::samples).reversed())
            .thenComparingInt(OwnerFinder::length));
    return ways;
  }

  private static int length(Way way) {
    return way.paths().isEmpty() ? 0 : way.paths().get(0).text().length();
  }

  /**
   * Returns whether nothing refers to the object that contains the address of {@code hold}. Such
   * garbage may contain the address of memory that was freed and then reused for the sample.
   */
  private static boolean isGarbage(HeapGraph graph, Hold hold) {
    if (hold.object() == HeapGraph.NONE) {
      return false;
    }
    HeapObject holder = graph.objects().get(hold.object());
    return holder.expanded() && !holder.reached();
  }

  private static void add(Map<Field, HoldersOfField> groups, Hold hold, boolean ofGarbage) {
    String holder = PathText.field(hold.className(), hold.field());
    boolean isStatic = hold.object() == HeapGraph.NONE;
    HoldersOfField group =
        groups.computeIfAbsent(
            new Field(hold.className() + "." + hold.field(), hold.steps() > 0, ofGarbage),
            f -> new HoldersOfField());
    group.holder = (isStatic ? "static " : "") + holder;
    group.isStatic |= isStatic;
    Set<Integer> holders = group.samples.computeIfAbsent(hold.sample(), s -> new HashSet<>());
    if (!isStatic) {
      holders.add(hold.object());
    }
  }

  private static boolean isEnough(int samples, int live) {
    return samples >= FEWEST_SAMPLES && samples >= LEAST_SHARE * live;
  }

  private static boolean isOfGarbage(Way way) {
    return way.holding() == Holding.GARBAGE || way.holding() == Holding.UNREACHABLE;
  }

  private static boolean isBookkeeping(Way way) {
    return way.paths().stream().anyMatch(path -> path.text().endsWith(BOOKKEEPING));
  }

  /**
   * Returns true for the result about the samples that no Java object owns, if these are less than
   * half of all samples. Such a result is listed after the results that name an owner.
   */
  private static boolean isRestWithoutHolder(Way way) {
    return way.holding() == Holding.NOBODY && way.share() < 0.5;
  }

  private static Way way(
      Field field,
      HoldersOfField group,
      int live,
      boolean linked,
      RetentionPathFinder pathFinder,
      List<HeapObject> objects) {
    Map<Integer, RetentionPathFinder.Found> found =
        linked ? found(group, pathFinder, objects) : Map.of();
    Holding holding = group.isStatic ? Holding.KEPT : mostFrequent(group, found);
    List<Path> paths = paths(found, holding);
    return way(holding, group.holder, group.samples.size(), live, field.throughNative(), paths);
  }

  private static Way way(
      Holding holding, String holder, int some, int all, boolean throughNative, List<Path> paths) {
    double share = (double) some / all;
    double squared = NORMAL_QUANTILE * NORMAL_QUANTILE / all;
    double middle = (share + squared / 2) / (1 + squared);
    double half =
        NORMAL_QUANTILE
            * Math.sqrt(share * (1 - share) / all + squared / (4 * all))
            / (1 + squared);
    return new Way(
        holding,
        holder,
        some,
        share,
        Math.max(0, middle - half),
        Math.min(1, middle + half),
        throughNative,
        paths);
  }

  /**
   * Returns the most frequent {@link Holding} of the samples. If several objects contain a sample's
   * address, the strongest holding of these objects counts; {@link Holding} lists the strongest
   * first. A sample does not count as UNREACHABLE if the reference paths of one of these objects
   * were not searched, because that object may be reachable.
   */
  private static Holding mostFrequent(
      HoldersOfField group, Map<Integer, RetentionPathFinder.Found> found) {
    Map<Holding, Integer> samples = new EnumMap<>(Holding.class);
    for (Set<Integer> holders : group.samples.values()) {
      Optional<Holding> firmest =
          holders.stream()
              .filter(found::containsKey)
              .map(o -> found.get(o).holding())
              .sorted()
              .findFirst();
      boolean isOpen = !found.keySet().containsAll(holders);
      firmest
          .filter(holding -> holding != Holding.UNREACHABLE || !isOpen)
          .ifPresent(holding -> samples.merge(holding, 1, Integer::sum));
    }
    Holding most = Holding.HELD;
    for (Map.Entry<Holding, Integer> each : samples.entrySet()) {
      if (each.getValue() > samples.getOrDefault(most, 0)) {
        most = each.getKey();
      }
    }
    return most;
  }

  private static Map<Integer, RetentionPathFinder.Found> found(
      HoldersOfField group, RetentionPathFinder pathFinder, List<HeapObject> objects) {
    Map<Integer, RetentionPathFinder.Found> found = new LinkedHashMap<>();
    group.samples.values().stream()
        .flatMap(Set::stream)
        .distinct()
        .filter(object -> objects.get(object).followed())
        .forEach(object -> found.put(object, pathFinder.from(object)));
    return found;
  }

  private static String text(List<RetentionPathFinder.Step> links) {
    boolean isBookkeeping =
        !links.isEmpty()
            && links.get(links.size() - 1).link().reference() == HeapGraph.Reference.STATIC
            && JNA_MEMORY_FIELD.equals(links.get(links.size() - 1).link().name())
            && links.get(links.size() - 1).referrer().stream()
                .anyMatch(type -> type.className().equals(JNA_MEMORY_CLASS));
    return PathText.of(links) + (isBookkeeping ? BOOKKEEPING : "");
  }

  private static List<Path> paths(Map<Integer, RetentionPathFinder.Found> found, Holding holding) {
    Map<Path, Integer> counts = new LinkedHashMap<>();
    found
        .values()
        .forEach(
            each -> counts.merge(new Path(each.holding(), text(each.links()), 0), 1, Integer::sum));
    return counts.entrySet().stream()
        .map(e -> new Path(e.getKey().holding(), e.getKey().text(), e.getValue()))
        .sorted(
            Comparator.comparing((Path path) -> path.holding() != holding)
                .thenComparing(Comparator.comparingInt(Path::holders).reversed())
                .thenComparing(Path::holding)
                .thenComparing(Path::text))
        .toList();
  }

  /**
   * Returns whether the search is conclusive: each object whose referrers were searched is {@link
   * Holding#KEPT} or {@link Holding#UNREACHABLE}.
   */
  public static boolean isConcluded(HeapGraph graph) {
    RetentionPathFinder pathFinder = new RetentionPathFinder(graph.objects());
    return graph.holds().stream()
        .filter(hold -> hold.object() != HeapGraph.NONE)
        .map(Hold::object)
        .distinct()
        .filter(object -> graph.objects().get(object).followed())
        .map(object -> pathFinder.from(object).holding())
        .allMatch(holding -> holding == Holding.KEPT || holding == Holding.UNREACHABLE);
  }

  public static String tooFew(int live) {
    return ("%d sampled %s too few for an answer, which takes at least %d: one address alone can be"
            + " chance")
        .formatted(live, live == 1 ? "object is" : "objects are", FEWEST_SAMPLES);
  }

  /**
   * Returns in one sentence what holds the samples.
   *
   * @param marksWhileWalking whether walks over the heap visit only reachable objects
   * @param lost whether most objects' addresses are nowhere in the memory of the process
   */
  public static String sentence(List<Way> ways, int live, boolean marksWhileWalking, boolean lost) {
    if (live < FEWEST_SAMPLES) {
      return tooFew(live);
    }
    if (ways.isEmpty()) {
      return "No field holds at least two of the %d samples and 30 %% of them.".formatted(live);
    }
    Way first = ways.get(0);
    String part = "%d of %d sampled objects (%s)".formatted(first.samples(), live, percent(first));
    String by =
        "%s%s".formatted(first.holder(), first.throughNative() ? " through native memory" : "");
    String path = first.paths().isEmpty() ? "" : first.paths().get(0).text();
    return part
        + switch (first.holding()) {
          case KEPT -> ": kept by " + by + behind(path) + ".";
          case HELD -> ": held by " + by + "; what keeps that was not looked at.";
          case LOCAL_VARIABLE ->
              ": held by " + by + ", which is in a local variable of a thread" + in(path) + ".";
          case DEEPER ->
              ": held by " + by + behind(path) + ", which something deeper than was looked keeps.";
          case SOFTLY -> ": softly kept by " + by + in(path) + "; a shortage of heap frees it.";
          case WEAKLY -> ": weakly kept by " + by + in(path) + "; a collection frees it.";
          case GARBAGE ->
              ": held by "
                  + by
                  + ", whose owner is garbage that no collection has found yet. This is no leak:"
                  + " the heap is too idle to be collected.";
          case NOBODY ->
              ": no Java long holds their address. "
                  + (lost
                      ? "They are lost: searches of the process found no address of most of them"
                          + " anywhere."
                      : "Native code may hold it; or it is held as ints, bytes or a local variable;"
                          + " or they are lost, which only the search for lost memory can tell.")
                  + (marksWhileWalking
                      ? " With ZGC and Shenandoah garbage may have it, too: their walks see none."
                      : "");
          case UNREACHABLE ->
              ": only garbage has their address, in "
                  + by
                  + ", and no cleaner is there to free them. They are lost, unless native code"
                  + " holds their address, too, or that is the address of something that was freed"
                  + " before.";
        };
  }

  private static String behind(String path) {
    return path.isEmpty() ? "" : " <- " + path;
  }

  private static String in(String path) {
    return path.isEmpty() ? "" : " (" + path + ")";
  }

  private static String percent(Way way) {
    return "%s, interval %s"
        .formatted(HumanText.share(way.share()), HumanText.shares(way.shareLow(), way.shareHigh()));
  }
}
