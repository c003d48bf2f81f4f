/*
 * Reads the kernel's clocks, in nanoseconds. No function changes errno or is a cancellation point.
 *
 * Inside of malloc, only coarse clocks may be read. The kernel updates them every 1 to 10 ms, and the vDSO reads them
 * without a system call. Exact clocks are unsafe inside of malloc. The vDSO reads them from the processor's counter,
 * which some threads must not access (PR_TSC_SIGSEGV, strict seccomp). A system call to read them is unsafe, too,
 * because strict seccomp would end the process.
 *
 * Outside of malloc, exact clocks are read by system calls, which need no access to the counter.
 *
 * Without a vDSO, the coarse time is the latest result of monotonic_ns() plus the time that coarse_clock_advance() has
 * added.
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

/* Return CLOCK_MONOTONIC and CLOCK_REALTIME at the kernel's latest tick. They may be called inside of malloc. Without
 * a vDSO they return estimates, which may be ahead of monotonic_ns() and ignore changes of the system's clock. */
uint64_t coarse_monotonic_ns(void);
uint64_t coarse_realtime_ns(void);

/* Adds `ns` to the coarse clocks if there is no vDSO; otherwise does nothing. `ns` is the time since the latest call
 * of monotonic_ns() or of this function. */
void coarse_clock_advance(uint64_t ns);

#endif
