package io.mallometer.internal.process;

import io.mallometer.model.SelfReport.SlotPages;
import java.util.OptionalLong;

/**
 * What the native library says and a split needs.
 *
 * @param liveBytes memory of malloc in use; empty while nothing is counted
 * @param footprintBytes what the library occupies at most besides its file; 0 without it
 * @param tableBytes the part of that which is one mapping of its own; 0 if there is none
 * @param slots where objects lie that the library has put on pages of their own
 * @param glibc whether glibc serves malloc; its arenas can be recognised, those of others cannot
 */
record MallocFacts(
    OptionalLong liveBytes, long footprintBytes, long tableBytes, SlotPages slots, boolean glibc) {}
