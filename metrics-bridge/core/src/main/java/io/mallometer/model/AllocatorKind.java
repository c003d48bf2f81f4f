package io.mallometer.model;

/** Kind of the allocator that serves the process. */
public enum AllocatorKind implements Tagged {
  /** The GNU C library's own. */
  GLIBC("glibc"),
  /** jemalloc. */
  JEMALLOC("jemalloc"),
  /** tcmalloc, of gperftools. */
  TCMALLOC("tcmalloc"),
  /** mimalloc. */
  MIMALLOC("mimalloc"),
  /** Another one, which tells nothing. */
  UNKNOWN("unknown");

  private final String tag;

  AllocatorKind(String tag) {
    this.tag = tag;
  }

  /** The name that people see in tags and tables. */
  @Override
  public String tag() {
    return tag;
  }
}
