package io.mallometer.model;

/**
 * A part of the resident memory. Every resident page of the process belongs to exactly one part, so
 * the parts add up to the resident set size.
 */
public enum ResidentPart implements Tagged {
  /** The reserved range of the Java heap. */
  JAVA_HEAP("java_heap"),
  /** Class metadata outside the compressed class space. */
  METASPACE("metaspace"),
  /** The compressed class space. */
  CLASS_SPACE("class_space"),
  /** Compiled and generated code. */
  CODE_CACHE("code_cache"),
  /** Stacks of all threads, Java or not. */
  THREAD_STACKS("thread_stacks"),
  /**
   * The collector's tables and other structures of the JVM. With native memory tracking, this part
   * includes the memory that the JVM itself allocated by malloc.
   */
  GC_AND_JVM("gc_and_jvm"),
  /**
   * Direct buffers as the JVM counts them. They are allocated by malloc and are in no other part.
   */
  DIRECT_BUFFERS("direct_buffers"),
  /**
   * Live memory of malloc, without direct buffers and the memory in {@link #GC_AND_JVM}. Known only
   * while mallometer counts.
   */
  MALLOC_LIVE("malloc_live"),
  /**
   * Memory of malloc that is free, or that malloc uses itself. Known only while mallometer counts.
   */
  MALLOC_RETAINED("malloc_retained"),
  /**
   * Memory of malloc, live or retained. Replaces {@link #MALLOC_LIVE} and {@link #MALLOC_RETAINED}
   * while mallometer does not count.
   */
  MALLOC("malloc"),
  /** Mapped files: libraries, jars, class data archives and mapped buffers. */
  MAPPED_FILES("mapped_files"),
  /** Shared memory without a file on a disk, such as {@code /dev/shm} and memfd. */
  SHARED_MEMORY("shared_memory"),
  /** The native library and its counters. */
  MALLOMETER("mallometer"),
  /** Memory that belongs to none of the parts above. */
  UNEXPLAINED("unexplained");

  private final String tag;

  ResidentPart(String tag) {
    this.tag = tag;
  }

  /** Returns the name in tags and tables. */
  @Override
  public String tag() {
    return tag;
  }
}
