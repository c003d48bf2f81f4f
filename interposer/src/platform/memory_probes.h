/*
 * The probes of OpenTelemetry's contract for memory profiles (provider otel_memory): a profiler outside of the process
 * hears of each allocation that was sampled, with what it stands for, and of its end. Each is one instruction that does
 * nothing while no tracer has attached, in a function of its own, so that the file has one note for each.
 *
 * Both allocate nothing, lock nothing and keep errno. From any thread, in signal handlers too.
 */
#ifndef MALLOMETER_PLATFORM_MEMORY_PROBES_H
#define MALLOMETER_PLATFORM_MEMORY_PROBES_H

#include <stddef.h>
#include <stdint.h>

/*
 * otel_memory:alloc. `object` is the address that the program gets; `requested` its size, above 0; `weighted_bytes`
 * what the sample stands for, so that their expected sum is that of all requests. Before the program has the object. A
 * sample whose realloc fails is freed before, since its address could be another's then, and announced again with the
 * bytes that it takes: allocations less frees stay right, and their sum is too high by it.
 */
void probe_allocation(const void *object, size_t requested, uint64_t weighted_bytes);

/* otel_memory:free. Of an object that probe_allocation() was called for, before its address can be another's. */
void probe_free(const void *object);

#endif
