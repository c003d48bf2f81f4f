package io.mallometer.internal.leak;

import io.mallometer.model.LastUse;

/** Where the objects of call sites were last used, by the number of the site. */
public interface LastUses {

  /**
   * The latest access, or the latest write.
   *
   * @param site the number
   */
  LastUse of(int site, boolean write);

  /** Nothing is known, and why. */
  static LastUses unavailable(String reason) {
    LastUse unavailable = LastUse.unavailable(reason);
    return (site, write) -> unavailable;
  }
}
