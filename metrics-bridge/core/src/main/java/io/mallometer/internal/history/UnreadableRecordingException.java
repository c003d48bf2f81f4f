package io.mallometer.internal.history;

import java.io.IOException;

/** Thrown if a file is no recording, or cannot be read; the message says which. */
public final class UnreadableRecordingException extends IOException {

  private static final long serialVersionUID = 1;

  UnreadableRecordingException(String message) {
    super(message);
  }
}
