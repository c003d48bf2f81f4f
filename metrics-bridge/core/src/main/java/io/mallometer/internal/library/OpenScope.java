package io.mallometer.internal.library;

import io.mallometer.model.RetainedSite;
import io.mallometer.model.ScopeFigures;
import java.util.List;

/** A scope (a measured stretch of execution). Thread-safe; no method throws. */
public interface OpenScope {

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

  ScopeFigures read();

  /** Returns the call sites of memory allocated and not freed in the scope, most bytes first. */
  default List<RetainedSite> retained() {
    return List.of();
  }

  /** Ends the scope and returns its counts. Called once. */
  ScopeFigures close();
}
