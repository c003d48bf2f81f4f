package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.model.SelfReport.SlotPages;
import java.util.List;
import java.util.OptionalLong;

/**
 * The facts about malloc, from the native library, that are needed to divide the resident set into
 * parts.
 *
 * @param liveBytes the live bytes of malloc; empty while nothing is counted
 * @param footprintBytes the most bytes that the library takes besides its file; 0 without the
 *     library
 * @param tableBytes the bytes of the library's tables, which are one mapping and a part of the
 *     footprint; 0 if there are none
 * @param slots the pages on which the library has put sampled objects
 * @param glibc whether glibc serves malloc; only the arenas of glibc can be recognised
 */
record MallocFacts(
    OptionalLong liveBytes, long footprintBytes, long tableBytes, SlotPages slots, boolean glibc) {

  /**
   * Returns the most bytes that the native library may have at unknown addresses. The library can
   * report some three hundred of its address ranges. If it reports any, the report is assumed to be
   * complete, and the result is 0.
   */
  long unlistedBytes(List<MappedRange> ranges) {
    boolean listed = ranges.stream().anyMatch(range -> range.owner() == MappedRange.Owner.LIBRARY);
    return listed ? 0 : Math.max(0, footprintBytes - tableBytes - slots.excessBytes());
  }
}
