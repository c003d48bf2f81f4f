package io.mallometer.model;

import java.util.Locale;

/** Verdict on the memory of a call site. */
public enum Verdict implements Tagged {
  /** Objects that the program will not use again, and more of them arrive. */
  LEAK,

  /**
   * Objects that were not accessed since they were allocated or for some minutes. Whether a
   * timeout, a scan or a swap will use or free them is not known yet.
   */
  UNUSED,

  /** Ever more memory that is used, or whose use is unknown. */
  GROWING,

  /**
   * Objects whose Java owners are garbage: the next garbage collection has cleaners free most of
   * the memory.
   */
  WAITS_FOR_GC,

  /**
   * Objects that were not accessed for long, but not a leak: others like them were used or freed
   * again.
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
