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
 * bytes that the sample represents: their expected sum is the sum of all requests. Must be called before the program
 * has the object. A sample that realloc may move is announced as freed before the realloc, because afterwards its
 * address may belong to another object. If the realloc fails, the sample is announced again with its bytes. The
 * difference of allocations and frees is then right, and the sum of allocations is too high by this sample.
 */
void probe_allocation(const void *object, size_t requested, uint64_t weighted_bytes);

/* otel_memory:free. Must be called for each object of probe_allocation(), before its address can belong to another
 * object. */
void probe_free(const void *object);

/* otel_memory:mmap. To be called when the program has mapped memory, of so many bytes as it asked for. */
void probe_mapping(const void *memory, size_t bytes);

/* otel_memory:munmap. To be called before the memory is unmapped, since another thread could map it at once. */
void probe_unmapping(const void *memory, size_t bytes);

#endif
