package io.mallometer.model;

/**
 * A part of the memory that the kernel charges to a cgroup. If the charge reaches the limit and
 * nothing can be reclaimed, the kernel kills a process.
 */
public enum ChargedPart implements Tagged {
  /** Anonymous memory of this process. */
  THIS_PROCESS("this_process"),
  /** The rest of the cgroup's anonymous memory, which is mostly that of other processes. */
  OTHER_PROCESSES("other_processes"),
  /** Cached and mapped files. The kernel drops their clean pages when memory is scarce. */
  PAGE_CACHE("page_cache"),
  /** Kernel memory, such as kernel stacks, page tables and slabs. */
  KERNEL("kernel"),
  /** Network buffers. */
  SOCKETS("sockets"),
  /** Files in tmpfs and shared memory, which cannot be dropped. */
  TMPFS("tmpfs"),
  /** Charged memory that the kernel reports in no other part, such as memory charged in advance. */
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
