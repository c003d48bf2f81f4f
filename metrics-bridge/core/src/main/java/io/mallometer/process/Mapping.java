package io.mallometer.process;

import org.jspecify.annotations.Nullable;

/**
 * One mapping of the process, a block of {@code /proc/self/smaps}.
 *
 * @param start first address
 * @param end address after the last
 * @param permissions as in the file, such as {@code rw-p}
 * @param name path or the kernel's name in brackets; empty for anonymous memory
 * @param residentBytes {@code Rss}
 * @param noReserve {@code VmFlags} has nr: reserved without a promise of memory
 * @param copiedBytes {@code Anonymous} where there is a file: pages that this process has written,
 *     which are its own and no longer the file's
 */
record Mapping(
    long start,
    long end,
    String permissions,
    String name,
    long residentBytes,
    boolean noReserve,
    long copiedBytes) {

  /** A mapping without such pages. */
  Mapping(
      long start,
      long end,
      String permissions,
      String name,
      long residentBytes,
      boolean noReserve) {
    this(start, end, permissions, name, residentBytes, noReserve, 0);
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
        && permissions.equals(mapping.permissions)
        && name.equals(mapping.name);
  }

  long bytes() {
    return end - start;
  }

  /** Private memory without a file behind it; the kernel may have a name for it. */
  boolean anonymous() {
    return permissions.endsWith("p") && (name.isEmpty() || name.startsWith("[anon:"));
  }

  boolean inaccessible() {
    return permissions.startsWith("---");
  }

  boolean writable() {
    return permissions.startsWith("rw-");
  }

  /** Writable memory that the kernel has promised, as malloc and the JVM obtain it. */
  boolean committed() {
    return anonymous() && writable() && !noReserve;
  }

  /** Addresses that the JVM keeps for later. */
  boolean reserved() {
    return anonymous() && inaccessible() && noReserve;
  }

  /** A piece of this. */
  Mapping part(long from, long to, long resident, String called) {
    return new Mapping(
        from, to, permissions, called, resident, noReserve, Math.min(copiedBytes, resident));
  }

  boolean contains(Range range) {
    return start <= range.start() && range.end() <= end;
  }

  boolean startsAtEndOf(Mapping other) {
    return start == other.end;
  }
}
