package io.mallometer.model;

/**
 * A part of the resident memory: every page of the process belongs to exactly one part, so that the
 * parts add up to the resident set size.
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
   * The collector's tables and other structures of the JVM; with native memory tracking also what
   * the JVM itself allocated by malloc.
   */
  GC_AND_JVM("gc_and_jvm"),
  /** Direct buffers as the JVM counts them; they come from malloc and are in no other part. */
  DIRECT_BUFFERS("direct_buffers"),
  /**
   * Memory of malloc that is in use, without the two parts above; known while mallometer counts.
   */
  MALLOC_LIVE("malloc_live"),
  /** Memory of malloc that is free or bookkeeping; known while mallometer counts. */
  MALLOC_RETAINED("malloc_retained"),
  /** Memory of malloc, in use or not, when mallometer does not count. */
  MALLOC("malloc"),
  /** Files: libraries, jars, class data archives, mapped buffers. */
  MAPPED_FILES("mapped_files"),
  /** Memory shared with other processes that no file on a disk backs. */
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
