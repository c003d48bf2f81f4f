package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one evaluation leaves to the next. Of most sites that is nothing: they are healthy since the
 * first evaluation, and the latest says so too. So only the others' standings are kept, and who has
 * none is healthy since the first.
 */
final class Standings {

  /**
   * What many stacks share. What compares two is written out: linking the compiler's own takes as
   * long as an evaluation.
   */
  record Name(String site, String library) {

    static Name of(CallSite site) {
      return new Name(site.name(), site.library());
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Name same && site.equals(same.site) && library.equals(same.library);
    }

    @Override
    public int hashCode() {
      return 31 * site.hashCode() + library.hashCode();
    }
  }

  private final Instant begun;

  /** By the number of the site. */
  private final Map<Integer, Standing> sites = new HashMap<>();

  /** Of sites that are judged together. */
  private final Map<Name, Standing> groups = new HashMap<>();

  /** The same by the number of each of these sites. */
  private final Map<Integer, Standing> members = new HashMap<>();

  /**
   * None.
   *
   * @param begun when the first evaluation was
   */
  Standings(Instant begun) {
    this.begun = begun;
  }

  /** For what the next evaluation leaves. */
  Standings next() {
    return new Standings(begun);
  }

  // ---- Before an evaluation

  boolean isLeak(int site) {
    return isLeak(at(sites, site));
  }

  boolean isLeak(Name group) {
    return isLeak(groups.get(group));
  }

  /** Whether the site is one of those that are a leak together. */
  boolean leaksTogether(int site) {
    return isLeak(at(members, site));
  }

  private static @Nullable Standing at(Map<Integer, Standing> standings, int site) {
    return standings.isEmpty() ? null : standings.get(site);
  }

  private static boolean isLeak(@Nullable Standing standing) {
    return standing != null && standing.isLeak();
  }

  /** Whether a site has another verdict than healthy, by itself. */
  boolean isSuspicious(int site) {
    Standing known = at(sites, site);
    return known != null && known.verdict() != Verdict.HEALTHY;
  }

  /**
   * Of a site. One that leaves a group because it is a leak by itself is one at once; one that
   * leaves another is healthy from then on.
   */
  Standing of(int site, Judgement judged, Instant time) {
    Standing known = at(sites, site);
    if (known != null) {
      return known;
    }
    Standing ofGroup = at(members, site);
    if (ofGroup == null) {
      return Standing.of(judged, begun);
    }
    return ofGroup.isLeak() ? ofGroup.showing(judged) : Standing.of(judged, time);
  }

  /** Of sites that are judged together. */
  Standing of(Name group, Judgement judged, Instant time) {
    Standing known = groups.get(group);
    return known == null ? Standing.of(judged, time) : known;
  }

  // ---- After it

  void put(int site, Standing standing) {
    if (!standing.isHealthySince(begun)) {
      sites.put(site, standing);
    }
  }

  void put(Name group, List<CallSite> stacks, Standing standing) {
    groups.put(group, standing);
    stacks.forEach(stack -> members.put(stack.number(), standing));
  }
}
