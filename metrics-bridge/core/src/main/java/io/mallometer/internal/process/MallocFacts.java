package io.mallometer.internal.process;

import io.mallometer.model.SelfReport.SlotPages;
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

  /** Returns the most bytes that the library takes besides its file, tables and sampled objects. */
  long counterBytes() {
    return Math.max(0, footprintBytes - tableBytes - slots.excessBytes());
  }
}
