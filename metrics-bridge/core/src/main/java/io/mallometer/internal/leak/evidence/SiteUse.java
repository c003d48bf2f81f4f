package io.mallometer.internal.leak.evidence;

public record SiteUse(
    long placed,
    long freed,
    DurationSketch lifetimes,
    DurationSketch idleBeforeFree,
    DurationSketch gaps) {

  public static final SiteUse NONE =
      new SiteUse(0, 0, DurationSketch.NONE, DurationSketch.NONE, DurationSketch.NONE);

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
