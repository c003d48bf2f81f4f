package io.mallometer.agent;

import org.jspecify.annotations.Nullable;

/** The version of this build. */
final class Version {

  private Version() {}

  static String text() {
    @Nullable String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }
}
