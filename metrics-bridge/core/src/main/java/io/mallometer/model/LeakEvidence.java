package io.mallometer.model;

import java.util.Locale;

/** The observation that supports a verdict on a call site. */
public enum LeakEvidence implements Tagged {
  /**
   * Evidence of a leak: memory contains no address of the sampled objects, so no code can use or
   * free them.
   */
  LOST,

  /** Evidence of a leak: objects were idle for longer than any timeout of the program. */
  OUTLASTED,

  /**
   * Evidence of a leak: the call stack leaked in an earlier run, and its objects are idle again in
   * this run.
   */
  KNOWN,

  /**
   * The latest access to each sampled object is known, because the object is alone on its pages.
   */
  SLOTS,

  /** Only the ages of the sampled objects are known. */
  AGES,

  /** Sums over all objects of the site are all that is known. */
  NONE;

  /** Returns the name in JSON. */
  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
