/*
 * Two ways to read the kernel's clocks, in nanoseconds. Neither changes errno or is a cancellation point.
 *
 * Inside of malloc only coarse clocks are read. The clocks that tell nanoseconds read the processor's counter, for
 * which a thread that has it switched off (PR_TSC_SIGSEGV, strict seccomp) gets a SIGSEGV; a system call in their place
 * ends the process under strict seccomp. The coarse clocks are words that the kernel writes at each tick, every 1 to
 * 10 ms, and the vDSO reads without either. Where there is no vDSO, the time inside of malloc is that at which somebody
 * outside last looked at a clock, and what is known to have passed since.
 *
 * Everywhere else clocks are read by system call, which works with the counter switched off, too.
 */
#ifndef MALLOMETER_PLATFORM_CLOCK_H
#define MALLOMETER_PLATFORM_CLOCK_H

#include <stdint.h>

/* Finds the vDSO. Called once, before the first sample. */
void clock_start(void);

/* CLOCK_MONOTONIC, CLOCK_REALTIME, and the processor time of the calling thread. Not inside of malloc. */
uint64_t monotonic_ns(void);
uint64_t realtime_ns(void);
uint64_t thread_cpu_ns(void);

/*
 * CLOCK_MONOTONIC and CLOCK_REALTIME at the latest tick, for use inside of malloc. From the vDSO neither is ever ahead
 * of monotonic_ns() and realtime_ns(). Without one they tell of the time at which monotonic_ns() was last called, with
 * what coarse_clock_passes() has added: that may be ahead where two threads note the same time, and is off by as much
 * as somebody has set the real clock since the start.
 */
uint64_t coarse_monotonic_ns(void);
uint64_t coarse_realtime_ns(void);

/* So much time has passed since somebody looked; of use where the coarse clocks cannot be read. */
void coarse_clock_passes(uint64_t ns);

#endif
