package io.mallometer.model;

/** An enum whose constants are published under other names than in Java. */
public interface Tagged {

  /** Returns the name in JSON, in labels and in tables. */
  String tag();
}
