package io.mallometer.model;

/**
 * Options of a scope: measurements beside its counts.
 *
 * @param matched whether frees are matched with allocations by address, which tells temporary from
 *     retained memory. It costs memory and time while the scope is open: {@code
 *     docs/reference/scopes.md}
 */
public record ScopeOptions(boolean matched) {

  /** Returns the default options: counts, peak and largest allocation. */
  public static ScopeOptions defaults() {
    return new ScopeOptions(false);
  }

  /** Returns these options with matching by address, or without it. */
  public ScopeOptions withMatched(boolean matched) {
    return new ScopeOptions(matched);
  }
}
