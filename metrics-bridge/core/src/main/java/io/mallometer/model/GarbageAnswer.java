package io.mallometer.model;

import java.util.Locale;

/**
 * The conclusion from past garbage collections about a call site whose objects may be freed by
 * cleaners.
 */
public enum GarbageAnswer implements Tagged {
  /** Cleaners free no object of the site, or nothing is known about cleaners. */
  NONE,

  /** A young collection frees the objects. */
  YOUNG,

  /** A collection of the old generation frees a part of the objects. */
  OLD,

  /**
   * A cleaner of the JDK may free the objects, but no collection took place since their allocation.
   */
  NOT_YET,

  /** Too few collections of the old generation took place to tell. */
  NOT_TOLD,

  /**
   * The objects outlived collections of the old generation: they are still reachable, or no cleaner
   * frees them.
   */
  OUTLIVED;

  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
