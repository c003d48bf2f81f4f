package io.mallometer.internal.leak.evidence;

/**
 * The lifetimes and idle times of a call site's objects that were ever in slots (pages of their
 * own, where accesses are observed).
 *
 * @param placed the number of objects that were ever put into a slot
 * @param freed the number of these that were freed
 * @param lifetimes the times from birth to free
 * @param idleBeforeFree the times from the latest access to the free
 * @param gaps the times from one access to the next, if a whole epoch without an access was between
 *     them
 */
public record SiteUse(
    long placed,
    long freed,
    DurationSketch lifetimes,
    DurationSketch idleBeforeFree,
    DurationSketch gaps) {

  /** The use of a site whose objects were never observed. */
  public static final SiteUse NONE =
      new SiteUse(0, 0, DurationSketch.NONE, DurationSketch.NONE, DurationSketch.NONE);

  /** Returns the sum of this use and that of another site. */
  public SiteUse plus(SiteUse other) {
    if (this == NONE) {
      return other;
    }
    return new SiteUse(
        placed + other.placed,
        freed + other.freed,
        lifetimes.plus(other.lifetimes),
        idleBeforeFree.plus(other.idleBeforeFree),
        gaps.plus(other.gaps));
  }
}
