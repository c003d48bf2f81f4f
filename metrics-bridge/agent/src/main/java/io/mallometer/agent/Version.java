package io.mallometer.agent;

import org.jspecify.annotations.Nullable;

/** Which build this is. */
final class Version {

  private Version() {}

  static String text() {
    @Nullable String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }
}
