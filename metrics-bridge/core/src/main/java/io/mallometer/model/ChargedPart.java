package io.mallometer.model;

/**
 * A part of the memory that the kernel charges to a cgroup. The kernel kills a process if the
 * charge reaches the cgroup's limit and no memory can be reclaimed.
 */
public enum ChargedPart implements Tagged {
  /** Anonymous memory of this process. */
  THIS_PROCESS("this_process"),
  /** Anonymous memory of the other processes in the cgroup, ended ones included. */
  OTHER_PROCESSES("other_processes"),
  /** Cached and mapped files; under pressure the kernel drops their clean pages. */
  PAGE_CACHE("page_cache"),
  /** Kernel memory, such as kernel stacks, page tables and slabs. */
  KERNEL("kernel"),
  /** Network buffers. */
  SOCKETS("sockets"),
  /** Files in tmpfs and shared memory, which cannot be dropped. */
  TMPFS("tmpfs"),
  /** Memory that the kernel charged in advance or does not itemise. */
  OTHER("other");

  private final String tag;

  ChargedPart(String tag) {
    this.tag = tag;
  }

  /** Returns the name in tags and tables. */
  @Override
  public String tag() {
    return tag;
  }
}
