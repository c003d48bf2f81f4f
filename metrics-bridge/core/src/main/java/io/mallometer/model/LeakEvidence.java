package io.mallometer.model;

import java.util.Locale;

/** The evidence for a verdict. */
public enum LeakEvidence implements Tagged {
  /** Of a leak: no address of the sampled objects exists, so no code can use or free them. */
  LOST,

  /** Of a leak: objects that were left alone for longer than the longest timeout. */
  OUTLASTED,

  /** Of a leak: the same stack leaked in an earlier run, and is unused again. */
  KNOWN,

  /** Sampled objects in page slots, of which is known when they were last touched. */
  SLOTS,

  /** Sampled objects of which only is known since when they are live. */
  AGES,

  /** The site's sums alone. */
  NONE;

  /** The name as it appears in JSON. */
  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
