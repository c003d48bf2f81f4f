package io.mallometer.model;

import java.util.function.Function;

/** A criterion by which call sites are grouped. */
public enum Grouping {
  /** The name of the site: {@code Class.method} or {@code library!symbol}. */
  SITE("site", CallSite::name),
  /** The library that requested the memory. */
  LIBRARY("library", CallSite::library),
  /** The innermost Java method, or else the innermost function. */
  FRAME("frame", CallSite::topFrame),
  /** The package of the innermost Java method, or else the library of the innermost function. */
  PACKAGE("package", CallSite::topPackage);

  /** Stands for an unknown key. */
  public static final String UNKNOWN = "[unknown]";

  private final String id;
  private final Function<CallSite, String> key;

  Grouping(String id, Function<CallSite, String> key) {
    this.id = id;
    this.key = key;
  }

  /** Returns the name that URLs and options use. */
  public String id() {
    return id;
  }

  /** Returns the group of a site; never empty. */
  public String keyOf(CallSite site) {
    String known = key.apply(site);
    return known.isEmpty() ? UNKNOWN : known;
  }
}
