package io.mallometer.internal.history;

import java.io.IOException;

/** A file that is no black box, or one that cannot be read; the message says which. */
public final class UnreadableBoxException extends IOException {

  private static final long serialVersionUID = 1;

  UnreadableBoxException(String message) {
    super(message);
  }
}
