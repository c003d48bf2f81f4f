package io.mallometer.model;

import java.util.Locale;

/** What the memory that a call site holds is. */
public enum Verdict {
  /** Objects that nobody has touched for long, and more of them keep coming. */
  LEAK,

  /** Ever more memory, which is used, or of whose use nothing is known. */
  GROWING,

  /**
   * Objects that nobody has touched for long, but not a leak: no more come, or some are used again.
   */
  POOL,

  /** None of these, or too little is known. */
  HEALTHY;

  /** The name as it appears in the tag {@code verdict} and in JSON. */
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
