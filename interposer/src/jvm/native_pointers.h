/*
 * Finds paths from a Java long to a block through up to three structures in native memory. For example, the long is
 * the address of a z_stream, which points to zlib's buffers.
 *
 * The program runs meanwhile and may free memory, so memory is read by process_vm_readv(2), which fails where a load
 * would fault. A result is only a hint.
 */
#ifndef MALLOMETER_JVM_NATIVE_POINTERS_H
#define MALLOMETER_JVM_NATIVE_POINTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/owner_graph.h"

/* The address ranges where structures may lie: anonymous mappings that do not look like a Java heap. */
struct native_ranges {
  uint32_t count;
  struct native_range {
    uint64_t begin, end;
  } range[4096];
};

/* Reads the ranges from the kernel; finds none if the kernel does not report them. */
void native_ranges_read(struct native_ranges *ranges);

/* Returns whether a value may be the address of a structure. May be called while the JVM is stopped. */
bool native_ranges_contain(const struct native_ranges *ranges, uint64_t value);

/*
 * Follows the graph's candidates: Java longs that may be addresses of structures. Records the candidates that lead to a
 * block whose own address is in no Java long. `chunks_have_sizes` says that the word before each block is its size, as
 * in glibc.
 */
void native_pointers_follow(struct owner_graph *graph, const struct native_ranges *ranges, bool chunks_have_sizes);

#endif
