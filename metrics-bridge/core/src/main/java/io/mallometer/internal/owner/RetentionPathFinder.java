package io.mallometer.internal.owner;

import io.mallometer.internal.library.HeapGraph;
import io.mallometer.internal.library.HeapGraph.HeapObject;
import io.mallometer.internal.library.HeapGraph.Kind;
import io.mallometer.internal.library.HeapGraph.Link;
import io.mallometer.internal.library.HeapGraph.Reference;
import io.mallometer.model.OwnerReport.Holding;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Searches, breadth first, for the path of references that keeps an object alive. Weaker references
 * are followed only if all referrers of the visited objects are known, because an unknown referrer
 * may belong to a path over stronger references.
 */
final class RetentionPathFinder {

  private enum Strength {
    STRONG,
    SOFT,
    LOCAL,
    /**
     * A reference from a cleaner or the finalizer, which frees the memory if nothing else keeps the
     * owner.
     */
    CLEANER,
    WEAK,
    /** The referent of a phantom reference, which no code can get. */
    NONE
  }

  /**
   * A search for a path over references of these strengths. If there is a path, {@code meaning}
   * states how the object is held. With {@code wantsAllKnown}, the search is skipped if an earlier
   * search visited an object whose referrers are not all known.
   */
  private record Attempt(Set<Strength> strengths, Holding meaning, boolean wantsAllKnown) {}

  private static final List<Attempt> ATTEMPTS =
      List.of(
          new Attempt(EnumSet.of(Strength.STRONG), Holding.KEPT, false),
          new Attempt(EnumSet.of(Strength.STRONG, Strength.LOCAL), Holding.LOCAL_VARIABLE, true),
          new Attempt(EnumSet.of(Strength.STRONG, Strength.SOFT), Holding.SOFTLY, true),
          new Attempt(
              EnumSet.of(Strength.STRONG, Strength.SOFT, Strength.CLEANER), Holding.GARBAGE, true),
          new Attempt(
              EnumSet.of(Strength.STRONG, Strength.SOFT, Strength.WEAK), Holding.WEAKLY, true));

  /**
   * The result of a search.
   *
   * @param links the path from the object to what keeps it: a root, static field, cleaner, or soft
   *     or weak reference. With {@link Holding#DEEPER}, the path to the farthest object whose
   *     referrers are not all known. Empty if there is no path.
   */
  record Found(Holding holding, List<Step> links) {}

  record Step(Link link, Optional<HeapObject> referrer) {}

  private record Predecessor(int object, Link link) {}

  private final List<HeapObject> objects;

  RetentionPathFinder(List<HeapObject> objects) {
    this.objects = objects;
  }

  Found from(int object) {
    if (objects.get(object).expanded() && !objects.get(object).reached()) {
      return new Found(Holding.UNREACHABLE, List.of());
    }
    boolean open = false;
    List<Step> farthest = List.of();
    for (Attempt attempt : ATTEMPTS) {
      if (open && attempt.wantsAllKnown()) {
        break;
      }
      Map<Integer, Predecessor> seen = new HashMap<>();
      Optional<List<Step>> toReference = Optional.empty();
      Deque<Integer> queue = new ArrayDeque<>(List.of(object));
      while (!queue.isEmpty()) {
        int at = queue.remove();
        if (isOpen(objects.get(at))) {
          open = true;
          farthest = path(object, at, seen);
        }
        for (Link link : objects.get(at).referrers()) {
          Strength strength = strength(link);
          if (!attempt.strengths().contains(strength)) {
            continue;
          }
          if (link.reference().ends() || strength == Strength.CLEANER) {
            return new Found(attempt.meaning(), path(object, at, link, seen));
          }
          if (toReference.isEmpty() && (strength == Strength.SOFT || strength == Strength.WEAK)) {
            // The path may end at this Reference object: walks visit only reachable objects, so
            // something keeps the Reference object.
            toReference = Optional.of(path(object, at, link, seen));
          }
          if (link.referrer() != object && !seen.containsKey(link.referrer())) {
            seen.put(link.referrer(), new Predecessor(at, link));
            queue.add(link.referrer());
          }
        }
      }
      if (toReference.isPresent()) {
        return new Found(attempt.meaning(), toReference.get());
      }
    }
    return open ? new Found(Holding.DEEPER, farthest) : new Found(Holding.UNREACHABLE, List.of());
  }

  /** Returns whether the object may have referrers that are not known. */
  private static boolean isOpen(HeapObject object) {
    return object.more() || !object.expanded();
  }

  private Strength strength(Link link) {
    if (link.reference() == Reference.LOCAL || link.reference() == Reference.JNI_LOCAL) {
      return Strength.LOCAL;
    }
    if (link.referrer() == HeapGraph.NONE || link.reference() != Reference.FIELD) {
      return Strength.STRONG;
    }
    Kind kind = objects.get(link.referrer()).kind();
    boolean isReferent = "referent".equals(link.name());
    return switch (kind) {
      case SOFT -> isReferent ? Strength.SOFT : Strength.STRONG;
      case WEAK -> isReferent ? Strength.WEAK : Strength.STRONG;
      case PHANTOM -> isReferent ? Strength.NONE : Strength.CLEANER;
      case FINAL -> isReferent ? Strength.CLEANER : Strength.STRONG;
      default -> Strength.STRONG;
    };
  }

  private List<Step> path(int start, int last, Link end, Map<Integer, Predecessor> seen) {
    List<Step> steps = path(start, last, seen);
    steps.add(step(end));
    return steps;
  }

  private List<Step> path(int start, int last, Map<Integer, Predecessor> seen) {
    List<Step> steps = new ArrayList<>();
    for (int at = last; at != start; at = seen.get(at).object()) {
      steps.add(step(seen.get(at).link()));
    }
    Collections.reverse(steps);
    return steps;
  }

  private Step step(Link link) {
    return new Step(
        link,
        link.referrer() == HeapGraph.NONE
            ? Optional.empty()
            : Optional.of(objects.get(link.referrer())));
  }
}
