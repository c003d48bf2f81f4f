package io.mallometer.internal.process;

final class Mappings {

  private Mappings() {}

  /** Returns a mapping without copied and huge pages, with permissions such as {@code rw-p}. */
  static Mapping of(
      long start,
      long end,
      String permissions,
      String name,
      long residentBytes,
      boolean noReserve) {
    return new Mapping(
        start,
        end,
        Access.of(permissions.charAt(0), permissions.charAt(1), permissions.charAt(2)),
        Mapping.isAnonymous(permissions.charAt(3), name),
        name,
        residentBytes,
        noReserve,
        0,
        -1);
  }
}
