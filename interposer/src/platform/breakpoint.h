/*
 * Breakpoints on data: the processor's debug registers, which stop the thread that touches a word with a SIGTRAP.
 *
 * The kernel lends them (perf_event_open(2) with a synchronous signal, since 5.13). A breakpoint stops only the thread
 * that opens it, and not what the kernel does for it. It is an open descriptor, of which a forked child has a copy.
 */
#ifndef MALLOMETER_PLATFORM_BREAKPOINT_H
#define MALLOMETER_PLATFORM_BREAKPOINT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Watches 8 bytes at `address`, a multiple of 8, in the calling thread: for writes only, or for reads too. The kernel
 * disarms it after so many touches. `data` comes with each trap. Returns a descriptor, or a negative errno value:
 * EACCES or EPERM if that is forbidden, ENOSYS, EINVAL or E2BIG if the kernel cannot, others if no register is free.
 * Takes no lock and allocates nothing; may change errno.
 */
int breakpoint_open(const void *address, bool writes_only, uint32_t touches, uint64_t data);

/*
 * Opens an event that counts nothing. While one is open, opening others is fast: the first makes Linux change its own
 * code and wait for all processors, for 10 to 30 ms, and so does the first after a second without any. Returns as
 * breakpoint_open().
 */
int breakpoint_open_idle(void);

/*
 * Closes what one of these two returned. Nothing if that is negative, or no longer such a descriptor: a program may
 * have closed all of its descriptors, and the number may be another file's by now. May change errno.
 */
void breakpoint_close(int descriptor);

struct breakpoint_trap {
  uint64_t data;
  /* The signal was blocked at the touch: it tells of another moment than that in which it arrives. */
  bool came_late;
};

/* False if a SIGTRAP is none of a breakpoint. For signal handlers. */
bool breakpoint_trap_of(const siginfo_t *information, struct breakpoint_trap *trap);

#endif
