package io.mallometer.junit;

import io.mallometer.FakeMallometer;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.util.Map;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A process whose memory the test sets. */
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
      public LiveReading read() {
        return new LiveReading(live, Map.of(), Map.of(), withoutSite, notFollowed);
      }

      @Override
      public double processBytes() {
        return processLive;
      }

      @Override
      public void collectGarbage() {
        live = isGarbage ? 0 : live;
      }

      @Override
      public String scope() {
        return "Counted (by hand): everything";
      }

      @Override
      public void close() {
        // Does nothing, because nothing was opened.
      }
    };
  }

  @Override
  Counting count(Of of) {
    long callsBefore = calls;
    double liveBefore = live;
    return new Counting() {
      @Override
      public ScopeCounts use() {
        long made = calls - callsBefore;
        return new ScopeCounts(
            SizeDistribution.of(sizeClass -> sizeClass == 0 ? made : 0),
            0,
            0,
            100 * made,
            0,
            0,
            live - liveBefore,
            peak,
            Double.NaN,
            Double.NaN,
            Double.NaN);
      }

      @Override
      public void close() {
        // Does nothing, because nothing was opened.
      }
    };
  }
}
