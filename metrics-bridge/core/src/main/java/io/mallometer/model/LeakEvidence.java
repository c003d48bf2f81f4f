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
   * The latest access to each sampled object is known. Each object is alone on its pages, so the
   * accessed bits of these pages show when the object is accessed.
   */
  SLOTS,

  /** Only the ages of the sampled objects are known. */
  AGES,

  /** The samples give no evidence; only the totals of the site are known. */
  NONE;

  /** Returns the name in JSON. */
  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
