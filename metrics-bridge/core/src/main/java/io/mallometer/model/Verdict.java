package io.mallometer.model;

import java.util.Locale;

/** Verdict on the memory of a call site. */
public enum Verdict implements Tagged {
  /** Objects that the program will not use again, and whose number grows. */
  LEAK,

  /**
   * Objects that were not accessed since they were allocated or for some minutes. Whether a
   * timeout, a scan or a swap will use or free them is not known yet.
   */
  UNUSED,

  /** The live memory grows, and the program uses it, or its use is unknown. */
  GROWING,

  /**
   * Objects whose Java owners are garbage: the next garbage collection has cleaners free most of
   * the memory.
   */
  WAITS_FOR_GC,

  /**
   * Objects that were not accessed for long and are no leak, because other objects of the site were
   * used or freed after such a time.
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
