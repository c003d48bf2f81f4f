package io.mallometer.internal.interposer;

/**
 * How long a call site's objects live and lie idle, from all that were ever in slots.
 *
 * @param placed objects that were ever put into a slot
 * @param freed those of them that were freed
 * @param lifetimes from birth to free
 * @param idleBeforeFree from the latest use to free
 * @param gaps from one use to the next, where a whole epoch without use was between
 */
public record SiteUse(
    long placed, long freed, Durations lifetimes, Durations idleBeforeFree, Durations gaps) {

  /** Nothing was seen. */
  public static final SiteUse NONE =
      new SiteUse(0, 0, Durations.NONE, Durations.NONE, Durations.NONE);

  /** This and what was seen at another site. */
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
