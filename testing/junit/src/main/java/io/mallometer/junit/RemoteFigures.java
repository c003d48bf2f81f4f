package io.mallometer.junit;

import io.mallometer.model.Status;
import java.io.IOException;

/** What another process tells of its native memory. */
interface RemoteFigures {

  /** Returns whether it counts. */
  Status status() throws IOException;

  /** Returns what was counted since some moment before; of a time after the call. */
  NativeUse read() throws IOException;
}
