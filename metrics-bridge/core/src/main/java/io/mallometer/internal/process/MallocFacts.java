package io.mallometer.internal.process;

import io.mallometer.model.SelfReport.SlotPages;
import java.util.OptionalLong;

/**
 * What the native library knows of malloc that is needed to divide the resident memory into its
 * parts.
 *
 * @param liveBytes live bytes of malloc; empty while nothing is counted
 * @param footprintBytes the most bytes that the library takes besides its file; 0 without it
 * @param tableBytes the part of the footprint in one mapping of its own; 0 if there is none
 * @param slots the addresses of sampled objects that the library has put on pages of their own
 * @param glibc whether glibc serves malloc: only its arenas can be recognised
 */
record MallocFacts(
    OptionalLong liveBytes, long footprintBytes, long tableBytes, SlotPages slots, boolean glibc) {}
