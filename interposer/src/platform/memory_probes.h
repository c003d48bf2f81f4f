/*
 * The probes of OpenTelemetry's contract for memory profiles (provider otel_memory). They tell a profiler outside of
 * the process about each sampled allocation with its weight, the free of each sampled object, and each mapping of the
 * program. Each probe has a function of its own, so that the library's file has one ELF note for it.
 *
 * The functions do not allocate or lock, and preserve errno. They may be called from any thread and in signal
 * handlers.
 */
#ifndef MALLOMETER_PLATFORM_MEMORY_PROBES_H
#define MALLOMETER_PLATFORM_MEMORY_PROBES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The probe otel_memory:alloc. `object` is the address that the program receives. `requested` is the requested size in
 * bytes, above 0. `weighted_bytes` is the number of bytes that the sample stands for: the sum over all samples is an
 * unbiased estimate of all requested bytes. Must be called before the program receives the object.
 *
 * Before a realloc that may move a sampled object, the object is reported as freed, because another object may have its
 * address after the realloc. If the realloc fails, the object is reported as allocated again, so the sum of allocations
 * is too high.
 */
void probe_allocation(const void *object, size_t requested, uint64_t weighted_bytes);

/* The probe otel_memory:free. Must be called for each object that probe_allocation() reported, before another object
 * can get its address. */
void probe_free(const void *object);

/* The probe otel_memory:mmap. Must be called when the program has mapped memory. `bytes` is the requested size. */
void probe_mapping(const void *memory, size_t bytes);

/* The probe otel_memory:munmap. Must be called before the memory is unmapped, because afterwards another thread could
 * map it. */
void probe_unmapping(const void *memory, size_t bytes);

#endif
