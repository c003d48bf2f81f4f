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

  /** Returns the live bytes on pages that are in memory. */
  Estimate residentBytes();

  /** Returns the bytes allocated for each second, lately; {@code NaN} if unknown. */
  double bytesPerSecond();
}
