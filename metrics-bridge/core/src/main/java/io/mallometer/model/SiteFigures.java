package io.mallometer.model;

/** The estimated figures of a call site or of a group of call sites. */
public sealed interface SiteFigures permits CallSite, SiteGroup {

  /** Returns the number of objects allocated since counting began. */
  Estimate allocatedObjects();

  /** Returns the bytes allocated since counting began. */
  Estimate allocatedBytes();

  /** Returns the number of live objects. */
  Estimate liveObjects();

  /** Returns the live bytes. */
  Estimate liveBytes();

  /** Returns the live bytes on pages that are in memory. */
  Estimate residentBytes();

  /**
   * Returns the bytes that were allocated per second in the last minutes; {@code NaN} if unknown.
   */
  double bytesPerSecond();
}
