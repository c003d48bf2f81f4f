package io.mallometer.model;

import java.util.Locale;

/** Verdict on the memory of a call site. */
public enum Verdict implements Tagged {
  /** The site allocates more and more objects that the program will not use again. */
  LEAK,

  /**
   * Objects of the site were not accessed for some minutes, or never since their allocation. The
   * program may still use or free them after a timeout.
   */
  UNUSED,

  /** The live memory of the site grows. The program uses it, or its use is unknown. */
  GROWING,

  /**
   * The Java owners of most objects are garbage, so most of the memory is freed after the next
   * garbage collection.
   */
  WAITS_FOR_GC,

  /**
   * Objects of the site were idle for a long time. They are not a leak, because the program used or
   * freed other objects of this site after equally long idle times.
   */
  POOL,

  /** No other verdict holds, or too little is known. */
  HEALTHY;

  /** Returns the name in the tag {@code verdict} and in JSON. */
  @Override
  public String tag() {
    return name().toLowerCase(Locale.ROOT);
  }
}
