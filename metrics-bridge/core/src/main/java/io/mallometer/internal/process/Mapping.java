package io.mallometer.internal.process;

import org.jspecify.annotations.Nullable;

/**
 * One mapping of the process, a block of {@code /proc/self/smaps}.
 *
 * @param start first address
 * @param end address after the last
 * @param access what the process may do with it
 * @param anonymous private memory without a file behind it; the kernel may have a name for it
 * @param name path or the kernel's name in brackets; empty if there is none
 * @param residentBytes {@code Rss}
 * @param noReserve {@code VmFlags} has nr: reserved without a promise of memory
 * @param copiedBytes {@code Anonymous} where there is a file: pages that this process has written,
 *     which are its own and no longer the file's
 * @param hugeBytes {@code AnonHugePages}: resident in transparent huge pages; -1 where the kernel
 *     does not tell. A piece of a mapping has what the whole has
 */
record Mapping(
    long start,
    long end,
    Access access,
    boolean anonymous,
    String name,
    long residentBytes,
    boolean noReserve,
    long copiedBytes,
    long hugeBytes) {

  private static final String PREFIX_OF_ANONYMOUS = "[anon:";

  /** A mapping without such pages, with permissions such as {@code rw-p}. */
  Mapping(
      long start,
      long end,
      String permissions,
      String name,
      long residentBytes,
      boolean noReserve) {
    this(
        start,
        end,
        Access.of(permissions.charAt(0), permissions.charAt(1), permissions.charAt(2)),
        isAnonymous(permissions.charAt(3), name),
        name,
        residentBytes,
        noReserve,
        0,
        -1);
  }

  /**
   * Whether nothing but the process itself is behind a mapping.
   *
   * @param sharing the last letter of its permissions
   */
  static boolean isAnonymous(int sharing, String name) {
    return sharing == 'p' && (name.isEmpty() || isNameOfAnonymous(name));
  }

  /** Whether the kernel gives such names to anonymous memory. */
  static boolean isNameOfAnonymous(String name) {
    return name.startsWith(PREFIX_OF_ANONYMOUS);
  }

  /**
   * Written out, as is equals: the JVM puts together what a record has by itself at the first call,
   * which takes 20 ms each.
   */
  @Override
  public int hashCode() {
    return Long.hashCode(start) * 31 + Long.hashCode(residentBytes);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Mapping mapping
        && start == mapping.start
        && end == mapping.end
        && residentBytes == mapping.residentBytes
        && noReserve == mapping.noReserve
        && copiedBytes == mapping.copiedBytes
        && hugeBytes == mapping.hugeBytes
        && access == mapping.access
        && anonymous == mapping.anonymous
        && name.equals(mapping.name);
  }

  long bytes() {
    return end - start;
  }

  boolean inaccessible() {
    return access == Access.NONE;
  }

  boolean writable() {
    return access == Access.WRITABLE;
  }

  /** Writable memory that the kernel has promised, as malloc and the JVM obtain it. */
  boolean committed() {
    return anonymous && writable() && !noReserve;
  }

  /** Addresses that the JVM keeps for later. */
  boolean reserved() {
    return anonymous && inaccessible() && noReserve;
  }

  /** Returns this mapping, marked as reserved without a promise of memory. */
  Mapping asReservation() {
    return new Mapping(
        start, end, access, anonymous, name, residentBytes, true, copiedBytes, hugeBytes);
  }

  /** A piece of this. */
  Mapping part(long from, long to, long resident, String called) {
    return new Mapping(
        from,
        to,
        access,
        anonymous,
        called,
        resident,
        noReserve,
        Math.min(copiedBytes, resident),
        hugeBytes);
  }

  boolean contains(Range range) {
    return start <= range.start() && range.end() <= end;
  }

  boolean startsAtEndOf(Mapping other) {
    return start == other.end;
  }
}
