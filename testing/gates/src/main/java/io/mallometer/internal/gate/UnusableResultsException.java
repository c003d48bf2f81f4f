package io.mallometer.internal.gate;

import java.io.IOException;

/** A file's content cannot be compared. The message names the file, the reason and the remedy. */
public final class UnusableResultsException extends IOException {

  private static final long serialVersionUID = 1;

  UnusableResultsException(String message) {
    super(message);
  }
}
