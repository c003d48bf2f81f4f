package io.mallometer.model;

/** Estimated figures of a call site, or of several together. */
public sealed interface SiteFigures permits CallSite, SiteGroup {

  /** Returns the objects allocated since the process started. */
  Estimate allocatedObjects();

  /** Returns the bytes allocated since the process started. */
  Estimate allocatedBytes();

  /** Returns the live objects. */
  Estimate liveObjects();

  /** Returns the live bytes. */
  Estimate liveBytes();

  /**
   * Returns the bytes allocated per second in the latest time for which enough samples are known;
   * {@code NaN} if unknown.
   */
  double bytesPerSecond();
}
