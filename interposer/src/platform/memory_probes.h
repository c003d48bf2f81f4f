/*
 * The probes of OpenTelemetry's contract for memory profiles (provider otel_memory): a profiler outside of the process
 * receives each sampled allocation with its weight, and its end, and each mapping of the program. A probe is one instruction that does nothing unless a
 * tracer is attached, in a function of its own, so that the file has one note for each.
 *
 * The functions allocate nothing, lock nothing and keep errno. From any thread, also in signal handlers.
 */
#ifndef MALLOMETER_PLATFORM_MEMORY_PROBES_H
#define MALLOMETER_PLATFORM_MEMORY_PROBES_H

#include <stddef.h>
#include <stdint.h>

/*
 * otel_memory:alloc. `object` is the address that the program gets; `requested` its size, above 0; `weighted_bytes` the
 * bytes that the sample represents: their expected sum is the sum of all requests. To be called before the program has
 * the object. A sample in realloc is freed before it, since its address could be another's then; if the realloc fails
 * it is announced again with its bytes: allocations less frees stay right, and the sum is too high by it.
 */
void probe_allocation(const void *object, size_t requested, uint64_t weighted_bytes);

/* otel_memory:free. To be called for each object of probe_allocation(), before its address can be another's. */
void probe_free(const void *object);

/* otel_memory:mmap. To be called when the program has mapped memory, of so many bytes as it asked for. */
void probe_mapping(const void *memory, size_t bytes);

/* otel_memory:munmap. To be called before the memory is unmapped, since another thread could map it at once. */
void probe_unmapping(const void *memory, size_t bytes);

#endif
