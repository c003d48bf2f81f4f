package io.mallometer.internal.library.abi;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.model.State;
import io.mallometer.model.Status;

/** Opens the library in a process that was started with {@code MALLOMETER_ENABLED=false}. */
public final class SwitchedOnLater {

  private SwitchedOnLater() {}

  public static NativeLibrary library() {
    return LoadedLibrary.open(explanation -> new Status(State.UNAVAILABLE, explanation, ""));
  }
}
