package io.mallometer.samples.leaky;

import java.util.Locale;

/** The leaks that can be switched on. */
enum Leak {
  /** Deflaters that are never ended. */
  ZLIB,
  /** SQL statements that are never closed. */
  SQLITE,
  /** Compression contexts that are never closed. */
  ZSTD,
  /** Blocks from malloc that are never freed. */
  JNA;

  /** Returns the name in URLs and on the command line. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
