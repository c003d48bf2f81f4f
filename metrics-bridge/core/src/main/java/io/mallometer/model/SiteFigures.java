package io.mallometer.model;

/** Estimated figures of a call site, or of several together. */
public sealed interface SiteFigures permits CallSite, SiteGroup {

  /** Objects allocated since the process started. */
  Estimate allocatedObjects();

  /** Their bytes. */
  Estimate allocatedBytes();

  /** Objects in use. */
  Estimate liveObjects();

  /** Their bytes. */
  Estimate liveBytes();

  /** Bytes allocated for each second, lately; {@code NaN} if unknown. */
  double bytesPerSecond();
}
