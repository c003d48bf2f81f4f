package io.mallometer.model;

import java.util.Locale;

/** The evidence for a verdict. */
public enum LeakEvidence implements Tagged {
  /**
   * The site leaks: memory has no address of its sampled objects, so no code can use or free them.
   */
  LOST,

  /** The site leaks, because objects were idle for longer than the longest timeout. */
  OUTLASTED,

  /**
   * The site leaks, because the same stack leaked in an earlier run and its objects are unused
   * again.
   */
  KNOWN,

  /** The evidence is sampled objects on pages of their own, whose latest access is known. */
  SLOTS,

  /** The evidence is sampled objects of which only the age is known. */
  AGES,

  /** The evidence has only sums over the objects of the site. */
  NONE;

  /** Returns the name in JSON. */
  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
