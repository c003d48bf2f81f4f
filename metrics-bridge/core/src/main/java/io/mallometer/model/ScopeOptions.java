package io.mallometer.model;

/**
 * What a scope measures beside its counts.
 *
 * @param matched whether frees are matched with allocations by address, which tells temporary from
 *     retained memory. It costs memory and time while the scope is open: {@code docs/scopes.md}
 */
public record ScopeOptions(boolean matched) {

  /** Counts, peak and largest allocation. */
  public static ScopeOptions defaults() {
    return new ScopeOptions(false);
  }

  /** These options with matching by address, or without. */
  public ScopeOptions withMatched(boolean matched) {
    return new ScopeOptions(matched);
  }
}
