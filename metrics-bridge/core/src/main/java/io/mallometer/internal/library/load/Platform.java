package io.mallometer.internal.library.load;

import io.mallometer.internal.library.ProcFiles;
import java.util.Locale;

/**
 * The platform of a native library.
 *
 * @param os {@code "linux"}, {@code "macos"}, {@code "windows"}, or another name in lower case
 * @param architecture {@code "x86-64"}, {@code "aarch64"}, or another name in lower case
 * @param musl whether the C library is musl; it uses the same native library as glibc, but only
 *     preloaded
 */
record Platform(String os, String architecture, boolean musl) {

  static Platform current() {
    return of(
        System.getProperty("os.name", ""),
        System.getProperty("os.arch", ""),
        ProcFiles.mappedFiles().orElse(""));
  }

  static Platform of(String osName, String osArch, String maps) {
    return new Platform(os(osName), architecture(osArch), maps.contains("/ld-musl-"));
  }

  String directory() {
    return os + "-" + architecture;
  }

  String libraryFile() {
    return isMacos() ? "libmallometer.dylib" : "libmallometer.so";
  }

  String preloadVariable() {
    return isMacos() ? "DYLD_INSERT_LIBRARIES" : "LD_PRELOAD";
  }

  boolean isMacos() {
    return os.equals(Experimental.MACOS);
  }

  /** Returns whether the library supports this platform; the jar may still lack the library. */
  boolean isSupported() {
    return (os.equals("linux") || (isMacos() && Experimental.allows(os)))
        && (architecture.equals("x86-64") || architecture.equals("aarch64"));
  }

  @Override
  public String toString() {
    return os + " " + architecture + (musl ? " with musl" : "");
  }

  static String os(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (lower.startsWith("mac")) {
      return Experimental.MACOS;
    }
    return lower.startsWith("windows") ? "windows" : lower;
  }

  private static String architecture(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.equals("amd64") || lower.equals("x86_64") ? "x86-64" : lower;
  }
}
