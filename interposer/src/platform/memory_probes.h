/*
 * The probes of OpenTelemetry's contract for memory profiles (provider otel_memory). By them a profiler outside of the
 * process receives each sampled allocation with its weight, the free of each sampled object, and each mapping of the
 * program. A probe is one instruction that does nothing unless a tracer is attached. Each probe is in a function of its
 * own, so that the library's file has one ELF note for each, which describes it to tracers.
 *
 * The functions do not allocate or lock, and preserve errno. They may be called from any thread and in signal handlers.
 */
#ifndef MALLOMETER_PLATFORM_MEMORY_PROBES_H
#define MALLOMETER_PLATFORM_MEMORY_PROBES_H

#include <stddef.h>
#include <stdint.h>

/*
 * otel_memory:alloc. `object` is the address that the program receives; `requested` is the requested size, above 0;
 * `weighted_bytes` is the number of bytes that the sample stands for: the sum of these numbers over all samples is an
 * unbiased estimate of the bytes of all requests. Must be called before the program receives the object. A sample that
 * realloc may move is reported as freed before the realloc, because afterwards its address may belong to another
 * object. If the realloc fails, the sample is reported as allocated again, so the sum of allocations is too high by
 * this sample.
 */
void probe_allocation(const void *object, size_t requested, uint64_t weighted_bytes);

/* otel_memory:free. Must be called for each object of probe_allocation(), before its address can belong to another
 * object. */
void probe_free(const void *object);

/* otel_memory:mmap. Must be called when the program has mapped memory. `bytes` is the size that the program
 * requested. */
void probe_mapping(const void *memory, size_t bytes);

/* otel_memory:munmap. Must be called before the memory is unmapped, because another thread could map it right
 * afterwards. */
void probe_unmapping(const void *memory, size_t bytes);

#endif
