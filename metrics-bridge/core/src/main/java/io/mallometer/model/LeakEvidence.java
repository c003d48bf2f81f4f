package io.mallometer.model;

import java.util.Locale;

/** The evidence for a verdict. */
public enum LeakEvidence implements Tagged {
  /** For a leak: no address of the sampled objects exists, so no code can use or free them. */
  LOST,

  /** For a leak: objects were idle for longer than the longest timeout. */
  OUTLASTED,

  /** For a leak: the same stack leaked in an earlier run, and its objects are unused again. */
  KNOWN,

  /** Sampled objects in page slots, whose latest access is known. */
  SLOTS,

  /** Sampled objects of which only the age is known. */
  AGES,

  /** Only sums over the objects of the site are known. */
  NONE;

  /** Returns the name in JSON. */
  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
