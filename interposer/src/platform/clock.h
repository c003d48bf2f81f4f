/*
 * Reads the kernel's clocks, in nanoseconds. No function changes errno or is a cancellation point.
 *
 * Inside of malloc only coarse clocks are read: words that the kernel writes at each tick, every 1 to 10 ms, and that
 * the vDSO reads without a system call. Exact clocks of the vDSO read the processor's counter, which some threads
 * must not access (PR_TSC_SIGSEGV, strict seccomp), and under strict seccomp a system call would end the process.
 * Without a vDSO, the time inside of malloc is the latest reading outside of malloc plus the time that is known to
 * have passed since.
 *
 * Outside of malloc, exact clocks are read by system calls, which need no access to the counter.
 */
#ifndef MALLOMETER_PLATFORM_CLOCK_H
#define MALLOMETER_PLATFORM_CLOCK_H

#include <stdint.h>

/* Finds the vDSO. Call this once, before the first sample. */
void clock_start(void);

/* Return CLOCK_MONOTONIC, CLOCK_REALTIME, and the CPU time of the calling thread. Must not be called inside of malloc.
 */
uint64_t monotonic_ns(void);
uint64_t realtime_ns(void);
uint64_t thread_cpu_ns(void);

/*
 * Return CLOCK_MONOTONIC and CLOCK_REALTIME at the latest tick. They may be called inside of malloc. Without a vDSO
 * they return the latest result of monotonic_ns() plus the time of coarse_clock_advance() since; they may then be
 * ahead of monotonic_ns(), and ignore changes of the system's clock.
 */
uint64_t coarse_monotonic_ns(void);
uint64_t coarse_realtime_ns(void);

/* Adds time that has passed since the latest call of monotonic_ns() or of this function. Has an effect only without a
 * vDSO. */
void coarse_clock_advance(uint64_t ns);

#endif
