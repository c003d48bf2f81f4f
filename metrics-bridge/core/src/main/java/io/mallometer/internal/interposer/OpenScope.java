package io.mallometer.internal.interposer;

import io.mallometer.model.RetainedSite;
import io.mallometer.model.ScopeFigures;
import java.util.List;

/** A scope that is being measured. Thread-safe; nothing here throws. */
public interface OpenScope {

  /** Measures nothing, for a reason. */
  static OpenScope none(String reason) {
    ScopeFigures nothing = ScopeFigures.none(reason);
    return new OpenScope() {
      @Override
      public ScopeFigures read() {
        return nothing;
      }

      @Override
      public ScopeFigures close() {
        return nothing;
      }
    };
  }

  /** What was measured so far. */
  ScopeFigures read();

  /** Which call sites what was retained is of, most bytes first. */
  default List<RetainedSite> retained() {
    return List.of();
  }

  /** Ends the scope and returns what it measured. Called once. */
  ScopeFigures close();
}
