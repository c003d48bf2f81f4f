package io.mallometer.model;

/**
 * The options of a scope, which add measurements to its counts.
 *
 * @param matched whether frees are matched with allocations by address, which distinguishes
 *     temporary from retained memory. Matching takes memory and time while the scope is open;
 *     {@code docs/reference/scopes.md} states how much
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
