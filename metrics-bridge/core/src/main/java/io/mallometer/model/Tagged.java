package io.mallometer.model;

/** An enum whose constants are published under a name other than that in Java. */
public interface Tagged {

  /** Returns the name in JSON, in labels and in tables. */
  String tag();
}
