package io.mallometer.model;

/** Meaning of one byte of allocated, freed and live memory. */
public enum ByteUnit implements Tagged {
  /** {@code malloc_usable_size()} of the object, asked of the allocator at each event. */
  USABLE("usable"),

  /**
   * The same for glibc, read from the chunk header; objects that glibc maps singly count 8 bytes
   * more.
   */
  GLIBC_CHUNK("chunk"),

  /** The requested size, kept in a header before each object. */
  REQUESTED("requested"),

  /** The library is not there to ask, or names a unit that this version does not know. */
  UNKNOWN("unknown");

  private final String tag;

  ByteUnit(String tag) {
    this.tag = tag;
  }

  /**
   * The name as it appears in the tag {@code accounting} of the meter {@code
   * mallometer.build.info}.
   */
  @Override
  public String tag() {
    return tag;
  }
}
