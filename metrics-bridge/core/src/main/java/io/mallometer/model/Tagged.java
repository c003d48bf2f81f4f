package io.mallometer.model;

/** An enum whose constants have other names in outputs than in Java. */
public interface Tagged {

  /** Returns the name in JSON, in labels and in tables. */
  String tag();
}
