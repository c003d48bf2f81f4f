package io.mallometer.model;

import java.util.stream.Stream;

/** The kind of the allocator in a process. */
public enum AllocatorKind implements Tagged {
  /** The allocator of the GNU C library. */
  GLIBC("glibc", "MALLOC_ARENA_MAX=2"),
  /** jemalloc. */
  JEMALLOC("jemalloc", "MALLOC_CONF=background_thread:true,dirty_decay_ms:1000"),
  /** tcmalloc of gperftools. */
  TCMALLOC("tcmalloc", "TCMALLOC_RELEASE_RATE=10"),
  /** mimalloc. */
  MIMALLOC("mimalloc", "MIMALLOC_PURGE_DELAY=0"),
  /** Another allocator, which reports no statistics. */
  UNKNOWN("unknown", "");

  private final String tag;
  private final String setting;

  AllocatorKind(String tag, String setting) {
    this.tag = tag;
    this.setting = setting;
  }

  /**
   * Returns an environment variable with its value, such as {@code MALLOC_ARENA_MAX=2}, that makes
   * the allocator retain less memory. Empty if no such variable is known.
   */
  public String setting() {
    return setting;
  }

  /** Returns the kind of the allocator with a name and version such as {@code jemalloc 5.3.0}. */
  public static AllocatorKind named(String name) {
    return Stream.of(values())
        .filter(kind -> name.startsWith(kind.tag))
        .findFirst()
        .orElse(UNKNOWN);
  }

  /** Returns the name in tags and tables. */
  @Override
  public String tag() {
    return tag;
  }
}
