package io.mallometer.model;

/**
 * The optional measurements of a scope.
 *
 * @param matched whether each free is matched with its allocation by address, to tell temporary
 *     from retained memory. Matching takes memory and time while the scope is open; see {@code
 *     docs/reference/scopes.md}
 */
public record ScopeOptions(boolean matched) {

  /** Returns the default options: a scope measures counts, the peak and the largest allocation. */
  public static ScopeOptions defaults() {
    return new ScopeOptions(false);
  }

  /** Returns these options with another value of {@link #matched}. */
  public ScopeOptions withMatched(boolean matched) {
    return new ScopeOptions(matched);
  }
}
