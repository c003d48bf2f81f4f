package io.mallometer.internal.leak;

import io.mallometer.model.LastUse;

/** The latest accesses to the objects of call sites, by the number of the site. */
public interface LatestAccesses {

  /**
   * Returns the latest access to the objects of a site, or the latest write if {@code write} is
   * true.
   *
   * @param site the number of the site
   */
  LastUse of(int site, boolean write);

  static LatestAccesses unavailable(String reason) {
    LastUse unavailable = LastUse.unavailable(reason);
    return (site, write) -> unavailable;
  }
}
