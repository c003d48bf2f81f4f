/*
 * Probes for tracers. A probe consists of an instruction that does nothing, and of a note in the library's file. The
 * note has the instruction's address and the registers of the probe's arguments. A tracer (bpftrace, perf, the
 * OpenTelemetry eBPF profiler) reads the note and replaces the instruction by a breakpoint.
 *
 * The note has the format of SystemTap's user-space probes (systemtap wiki, "UserSpaceProbeImplementation"), type 3 of
 * owner "stapsdt": three addresses (the instruction, .stapsdt.base, and a semaphore, here 0), then provider, name and
 * arguments. The note's section takes no memory in the process, and stays when the file is stripped.
 */
#ifndef MALLOMETER_PLATFORM_PROBE_H
#define MALLOMETER_PLATFORM_PROBE_H

#include <stdint.h>

#include "platform/arch.h"

#if PROBES_ARE_KNOWN

#define PROBE_NOTE(provider, name, arguments)                                 \
  "990:\n\tnop\n"                                                             \
  "\t.pushsection .note.stapsdt, \"?\", %%note\n"                             \
  "\t.balign 4\n\t.4byte 992f - 991f, 994f - 993f, 3\n"                       \
  "991:\n\t.asciz \"stapsdt\"\n"                                              \
  "992:\n\t.balign 4\n"                                                       \
  "993:\n\t.8byte 990b, _.stapsdt.base, 0\n"                                  \
  "\t.asciz \"" provider "\"\n\t.asciz \"" name "\"\n\t.asciz \"" arguments   \
  "\"\n"                                                                      \
  "994:\n\t.balign 4\n\t.popsection\n"                                        \
  "\t.ifndef _.stapsdt.base\n"                                                \
  "\t.pushsection .stapsdt.base, \"aG\", %%progbits, .stapsdt.base, comdat\n" \
  "\t.weak _.stapsdt.base\n\t.hidden _.stapsdt.base\n"                        \
  "_.stapsdt.base:\n\t.space 1\n\t.size _.stapsdt.base, 1\n"                  \
  "\t.popsection\n\t.endif\n"

/* Puts the arguments into the registers of a function's first arguments. The probe's ELF note names these registers,
 * but some tracers assume them without reading the note. */
#define PROBE_1(provider, name, value)                                                                      \
  do {                                                                                                      \
    register uintptr_t first __asm__(ARGUMENT_REGISTER_1) = (value);                                        \
    __asm__ volatile(PROBE_NOTE(provider, name, "8@" REGISTER_IN_NOTE ARGUMENT_REGISTER_1) : : "r"(first)); \
  } while (0)

#define PROBE_2(provider, name, value_1, value_2)                                                                    \
  do {                                                                                                               \
    register uintptr_t first __asm__(ARGUMENT_REGISTER_1) = (value_1);                                               \
    register uintptr_t second __asm__(ARGUMENT_REGISTER_2) = (value_2);                                              \
    __asm__ volatile(                                                                                                \
        PROBE_NOTE(provider, name,                                                                                   \
                   "8@" REGISTER_IN_NOTE ARGUMENT_REGISTER_1 " 8@" REGISTER_IN_NOTE ARGUMENT_REGISTER_2)             \
        :                                                                                                            \
        : "r"(first), "r"(second));                                                                                  \
  } while (0)

#define PROBE_3(provider, name, value_1, value_2, value_3)                                                           \
  do {                                                                                                               \
    register uintptr_t first __asm__(ARGUMENT_REGISTER_1) = (value_1);                                               \
    register uintptr_t second __asm__(ARGUMENT_REGISTER_2) = (value_2);                                              \
    register uintptr_t third __asm__(ARGUMENT_REGISTER_3) = (value_3);                                               \
    __asm__ volatile(PROBE_NOTE(provider, name,                                                                      \
                                "8@" REGISTER_IN_NOTE ARGUMENT_REGISTER_1 " 8@" REGISTER_IN_NOTE ARGUMENT_REGISTER_2 \
                                " 8@" REGISTER_IN_NOTE ARGUMENT_REGISTER_3)                                          \
                     :                                                                                               \
                     : "r"(first), "r"(second), "r"(third));                                                         \
  } while (0)

#else

#define PROBE_1(provider, name, value) ((void)(value))
#define PROBE_2(provider, name, value_1, value_2) ((void)(value_1), (void)(value_2))
#define PROBE_3(provider, name, value_1, value_2, value_3) ((void)(value_1), (void)(value_2), (void)(value_3))

#endif

#endif
