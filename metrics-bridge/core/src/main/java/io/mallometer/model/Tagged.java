package io.mallometer.model;

/** An enum whose constants are published by a name of their own. */
public interface Tagged {

  /** Returns the name in JSON, in labels and in tables. */
  String tag();
}
