package io.mallometer.junit;

import io.mallometer.FakeMallometer;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.util.Map;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A process whose memory is what the test says. */
final class HandFedProcess extends ThisProcess implements BeforeEachCallback {

  Status status = Status.counting();
  double live;
  long calls;
  double peak;
  boolean isGarbage;
  long withoutSite;
  long notFollowed;
  double processLive;
  Of watched = Of.PROCESS;

  HandFedProcess() {
    super(new FakeMallometer());
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    NativeMemoryExtension.measure(context, this);
  }

  /** Counts nothing from now on. */
  void isAbsent() {
    status = new Status(State.UNAVAILABLE, "it is not there", "put it there");
  }

  @Override
  Status status() {
    return status;
  }

  @Override
  Watch watch(Of of, Class<?> test) {
    watched = of;
    return new Watch() {
      @Override
      public Reading read() {
        return new Reading(live, Map.of(), Map.of(), withoutSite, notFollowed);
      }

      @Override
      public double processBytes() {
        return processLive;
      }

      @Override
      public boolean collectGarbage() {
        live = isGarbage ? 0 : live;
        return true;
      }

      @Override
      public String scope() {
        return "Counted (by hand): everything";
      }

      @Override
      public void close() {
        // Nothing is held.
      }
    };
  }

  @Override
  Counting count(Of of) {
    long callsBefore = calls;
    double liveBefore = live;
    return new Counting() {
      @Override
      public NativeUse use() {
        long made = calls - callsBefore;
        return new NativeUse(made, made, 0, 100 * made, 0, live - liveBefore, peak, Double.NaN);
      }

      @Override
      public void close() {
        // Nothing is held.
      }
    };
  }
}
