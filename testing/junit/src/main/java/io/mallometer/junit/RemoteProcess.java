package io.mallometer.junit;

import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.io.IOException;
import java.io.UncheckedIOException;

/** A process that is reached over a connection. */
final class RemoteProcess implements MeasuredProcess {

  private final RemoteFigures figures;

  RemoteProcess(RemoteFigures figures) {
    this.figures = figures;
  }

  @Override
  public Status status() {
    try {
      return figures.status();
    } catch (IOException | RuntimeException e) {
      return new Status(
          State.UNAVAILABLE, "the other process does not answer: " + e, "Start it with mallometer");
    }
  }

  @Override
  public Watch watch(Of of, Class<?> test) {
    return new RemoteWatch();
  }

  @Override
  public Counting count(Of of) {
    NativeUse before = read();
    return new Counting() {
      @Override
      public NativeUse use() {
        return read().minus(before);
      }

      @Override
      public void close() {
        // Nothing is held.
      }
    };
  }

  private NativeUse read() {
    try {
      return figures.read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class RemoteWatch implements Watch {
    @Override
    public Reading read() {
      return Reading.ofProcess(RemoteProcess.this.read().kept());
    }

    @Override
    public boolean collectGarbage() {
      return false;
    }

    @Override
    public String scope() {
      return "Counted (%s): all of another process, HotSpot's own memory included"
          .formatted(status().reason());
    }

    @Override
    public void close() {
      // Nothing is held.
    }
  }
}
