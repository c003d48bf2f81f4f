package io.mallometer.model;

/** The unit in which allocated, freed and live bytes are counted. */
public enum ByteUnit implements Tagged {
  /** The result of {@code malloc_usable_size()}, requested from the allocator at each event. */
  USABLE("usable"),

  /**
   * The usable size, read from glibc's chunk header. Before glibc 2.43, an object that glibc
   * allocates by {@code mmap} counts 8 bytes more.
   */
  GLIBC_CHUNK("chunk"),

  /** The requested size, stored in a header before each object. */
  REQUESTED("requested"),

  /** The library is absent, or its unit is unknown to this version. */
  UNKNOWN("unknown");

  private final String tag;

  ByteUnit(String tag) {
    this.tag = tag;
  }

  /** Returns the name in the tag {@code accounting} of the meter {@code mallometer.build.info}. */
  @Override
  public String tag() {
    return tag;
  }
}
