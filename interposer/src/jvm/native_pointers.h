/*
 * The way from a Java long to a block that it does not point to: through a structure in native memory that does, as a
 * z_stream points to zlib's buffers. Up to three such steps are followed.
 *
 * The program runs meanwhile, and frees what is being read. So memory is read by process_vm_readv(2), which fails where
 * a load would fault, and what is found is a hint: a word that happened to be there when it was read.
 */
#ifndef MALLOMETER_JVM_NATIVE_POINTERS_H
#define MALLOMETER_JVM_NATIVE_POINTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/owner_graph.h"

/* Parts of the address space where structures may lie: anonymous mappings that are no Java heap, as far as one sees. */
struct native_ranges {
  uint32_t count;
  struct native_range {
    uint64_t begin, end;
  } range[4096];
};

/* None if the kernel does not tell. */
void native_ranges_read(struct native_ranges *ranges);

/* Whether a value may be the address of a structure. Runs while the JVM is stopped. */
bool native_ranges_hold(const struct native_ranges *ranges, uint64_t value);

/*
 * Follows the candidates of a graph to its blocks, and notes those that lead to blocks that no Java long holds.
 * `chunks_have_sizes`: in front of each block stands its size, as glibc has it.
 */
void native_pointers_follow(struct owner_graph *graph, const struct native_ranges *ranges, bool chunks_have_sizes);

#endif
