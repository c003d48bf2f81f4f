package io.mallometer.internal.interposer;

import java.util.Locale;

/**
 * What a native library must be built for.
 *
 * @param os {@code "linux"}, {@code "macos"}, {@code "windows"}, or another name in lower case
 * @param architecture {@code "x86-64"}, {@code "aarch64"}, or another name in lower case
 * @param musl whether the C library is musl, for which the same library serves if it is preloaded
 */
record Platform(String os, String architecture, boolean musl) {

  static Platform current() {
    return of(
        System.getProperty("os.name", ""),
        System.getProperty("os.arch", ""),
        ProcFiles.mappedFiles().orElse(""));
  }

  /** From the system properties {@code os.name} and {@code os.arch} and the text of maps. */
  static Platform of(String osName, String osArch, String maps) {
    return new Platform(os(osName), architecture(osArch), maps.contains("/ld-musl-"));
  }

  /** The name of the directory of this platform's library in the jar, such as linux-x86-64. */
  String directory() {
    return os + "-" + architecture;
  }

  /** The name of the library's file. */
  String libraryFile() {
    return isMacos() ? "libmallometer.dylib" : "libmallometer.so";
  }

  /** The environment variable that names libraries to be loaded before those of a program. */
  String preloadVariable() {
    return isMacos() ? "DYLD_INSERT_LIBRARIES" : "LD_PRELOAD";
  }

  boolean isMacos() {
    return os.equals(Experimental.MACOS);
  }

  /** Whether there is a library for this platform, though the jar may not carry it. */
  boolean isSupported() {
    return (os.equals("linux") || (isMacos() && Experimental.allows(os)))
        && (architecture.equals("x86-64") || architecture.equals("aarch64"));
  }

  /** For people, such as "linux x86-64 with musl". */
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
