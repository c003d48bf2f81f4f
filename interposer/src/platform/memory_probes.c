/* Places the instruction of each probe. See memory_probes.h. */
#include "platform/memory_probes.h"

#include "platform/probe.h"

__attribute__((noinline)) void probe_allocation(const void *object, size_t requested, uint64_t weighted_bytes) {
  PROBE_3("otel_memory", "alloc", (uintptr_t)object, requested, weighted_bytes);
}

__attribute__((noinline)) void probe_free(const void *object) { PROBE_1("otel_memory", "free", (uintptr_t)object); }

__attribute__((noinline)) void probe_mapping(const void *memory, size_t bytes) {
  PROBE_2("otel_memory", "mmap", (uintptr_t)memory, bytes);
}

__attribute__((noinline)) void probe_unmapping(const void *memory, size_t bytes) {
  PROBE_2("otel_memory", "munmap", (uintptr_t)memory, bytes);
}
