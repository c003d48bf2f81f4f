package io.mallometer.model;

import java.util.Locale;

/**
 * How firmly Java objects hold native memory, firmest first. Each is only said as far as the search
 * has looked: {@link #HELD} where nobody asked what keeps the holder.
 */
public enum Holding {
  /** A path of strong references leads to a static field, a thread, or a JNI global reference. */
  KEPT("kept"),
  /** Only a local variable of a thread keeps it, as far as was looked. */
  LOCAL_VARIABLE("in a local variable of a thread"),
  /** A Java object holds the address; what keeps that object was not looked at. */
  HELD("held"),
  /** Something keeps the holder, over more links than were looked at. */
  DEEPER("kept by something deeper than was looked"),
  /** Only soft references lead there: the next shortage of heap frees it. */
  SOFTLY("softly kept"),
  /** Only weak references lead there: a collection frees it. */
  WEAKLY("weakly kept"),
  /** The owner is garbage that no collection has found yet: only a cleaner knows the address. */
  GARBAGE("the owner is garbage that no collection has found yet"),
  /** No Java long is the address. */
  NOBODY("no Java long holds it");

  private final String words;

  Holding(String words) {
    this.words = words;
  }

  /** What is said of it in sentences. */
  public String words() {
    return words;
  }

  /** The name in JSON: {@code local-variable}, for example. */
  public String tag() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
