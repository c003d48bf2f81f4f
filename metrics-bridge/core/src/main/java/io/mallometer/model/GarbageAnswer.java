package io.mallometer.model;

import java.util.Locale;

/** The result of past garbage collections for a call site whose objects cleaners free. */
public enum GarbageAnswer implements Tagged {
  /** Cleaners free no object of the site, or nothing is known about cleaners. */
  NONE,

  /** A young collection frees the objects. */
  YOUNG,

  /** An old collection frees a part of the objects. */
  OLD,

  /** Too few old collections took place for an answer. */
  NOT_TOLD,

  /**
   * The objects outlived old collections, because they are still reachable or no cleaner frees
   * them.
   */
  OUTLIVED;

  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
