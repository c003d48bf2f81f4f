package io.mallometer.internal.gate;

import java.io.IOException;

/**
 * A file whose content cannot be compared. The message names the file, the reason and what to do.
 */
public final class UnusableResultsException extends IOException {

  private static final long serialVersionUID = 1;

  UnusableResultsException(String message) {
    super(message);
  }
}
