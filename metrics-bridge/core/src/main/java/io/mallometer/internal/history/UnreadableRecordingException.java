package io.mallometer.internal.history;

import java.io.IOException;

/** A file that is no recording, or one that cannot be read; the message says which. */
public final class UnreadableRecordingException extends IOException {

  private static final long serialVersionUID = 1;

  UnreadableRecordingException(String message) {
    super(message);
  }
}
