package io.mallometer.internal.interposer;

import io.mallometer.model.ScopeFigures;

/** A scope that is being measured. Thread-safe; nothing here throws. */
public interface OpenScope {

  /** What was measured so far. */
  ScopeFigures read();

  /** Ends the scope and returns what it measured. Called once. */
  ScopeFigures close();
}
