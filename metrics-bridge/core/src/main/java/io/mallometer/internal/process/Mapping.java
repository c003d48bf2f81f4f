package io.mallometer.internal.process;

import org.jspecify.annotations.Nullable;

/**
 * A mapping of the process, one block of {@code /proc/self/smaps}.
 *
 * @param end address after the last
 * @param anonymous whether it is private memory without a file; the kernel can have a name for it
 * @param name path or the kernel's name in brackets; empty if there is none
 * @param residentBytes {@code Rss}
 * @param noReserve whether {@code VmFlags} has {@code nr}: the addresses are reserved without a
 *     promise of memory
 * @param copiedBytes {@code Anonymous} of a mapped file: the pages that this process copied by
 *     writing
 * @param hugeBytes {@code AnonHugePages}: the bytes in transparent huge pages; -1 if the kernel
 *     does not report them. Each part of a divided mapping has the bytes of the whole mapping
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

  /**
   * Returns whether a mapping is private memory without a file.
   *
   * @param sharing the last letter of its permissions
   */
  static boolean isAnonymous(int sharing, String name) {
    return sharing == 'p' && (name.isEmpty() || isNameOfAnonymous(name));
  }

  static boolean isNameOfAnonymous(String name) {
    return name.startsWith(PREFIX_OF_ANONYMOUS);
  }

  /**
   * Returns the hash code. It is written by hand, because the first call of each method that the
   * compiler generates for a record takes the JVM 20 ms.
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

  boolean committed() {
    return anonymous && writable() && !noReserve;
  }

  /**
   * Returns whether the mapping only reserves addresses, without memory. The JVM makes such
   * mappings for later use.
   */
  boolean reserved() {
    return anonymous && inaccessible() && noReserve;
  }

  Mapping asReservation() {
    return new Mapping(
        start, end, access, anonymous, name, residentBytes, true, copiedBytes, hugeBytes);
  }

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

  boolean startsAtEndOf(Mapping other) {
    return start == other.end;
  }
}
