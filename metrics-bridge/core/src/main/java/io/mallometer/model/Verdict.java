package io.mallometer.model;

import java.util.Locale;

/** Verdict on the memory of a call site. */
public enum Verdict implements Tagged {
  /** The site allocates more and more objects that the program will not use again. */
  LEAK,

  /**
   * Objects of the site were not accessed since they were allocated, or for some minutes. It is not
   * known yet whether a timeout, a scan or a swap will use or free them.
   */
  UNUSED,

  /** The live memory of the site grows, and the program uses it, or its use is unknown. */
  GROWING,

  /**
   * The Java owners of most objects of the site are garbage. After the next garbage collection,
   * cleaners free most of the memory.
   */
  WAITS_FOR_GC,

  /**
   * Objects of the site were not accessed for a long time, but are no leak, because other objects
   * of the site were used or freed after such a time.
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
