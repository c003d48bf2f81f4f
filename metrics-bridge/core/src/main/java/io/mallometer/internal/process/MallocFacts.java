package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.model.SelfReport.SlotPages;
import java.util.List;
import java.util.OptionalLong;

/**
 * The facts about malloc, from the native library, that dividing the resident set needs.
 *
 * @param liveBytes the live bytes of malloc; empty while nothing is counted
 * @param footprintBytes the most bytes that the library takes besides its file; 0 without the
 *     library
 * @param tableBytes the part of the footprint in a single mapping, the library's tables; 0 if there
 *     is none
 * @param slots the addresses of sampled objects that the library has put on pages of their own
 * @param glibc whether glibc serves malloc; only the arenas of glibc can be recognised
 */
record MallocFacts(
    OptionalLong liveBytes, long footprintBytes, long tableBytes, SlotPages slots, boolean glibc) {

  /**
   * Returns the most bytes of the library's memory whose addresses are unknown: all but its file,
   * its tables and its slots (the pages of observed objects). Returns 0 if the library reports the
   * ranges that it mapped, although it reports only some three hundred.
   */
  long unlistedBytes(List<MappedRange> ranges) {
    boolean listed = ranges.stream().anyMatch(range -> range.owner() == MappedRange.Owner.LIBRARY);
    return listed ? 0 : Math.max(0, footprintBytes - tableBytes - slots.excessBytes());
  }
}
