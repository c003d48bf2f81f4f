package io.mallometer.process;

/**
 * A range of addresses.
 *
 * @param start first address
 * @param end address after the last
 */
record Range(long start, long end) {

  boolean contains(Mapping mapping) {
    return start <= mapping.start() && mapping.start() < end;
  }
}
