package io.mallometer.model;

import java.util.Locale;

/** On what a verdict stands. */
public enum LeakEvidence {
  /** Sampled objects in page slots, of which is known when they were last touched. */
  SLOTS,

  /** Sampled objects of which only is known since when they are live. */
  AGES,

  /** The site's sums alone. */
  NONE;

  /** The name as it appears in JSON. */
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
