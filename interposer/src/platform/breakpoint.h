/*
 * Breakpoints on data: the processor's debug registers, which stop a thread that accesses a word with a SIGTRAP.
 *
 * The kernel provides them (perf_event_open(2) with a synchronous signal, since 5.13). A breakpoint stops only the
 * thread that opens it, and not the kernel's accesses for it. It is an open descriptor, which a forked child inherits.
 */
#ifndef MALLOMETER_PLATFORM_BREAKPOINT_H
#define MALLOMETER_PLATFORM_BREAKPOINT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Watches 8 bytes at `address`, a multiple of 8, in the calling thread: for writes only, or for reads too. The kernel
 * disarms the breakpoint after `touches` accesses. Each trap has `data`. Returns a descriptor, or a negative errno
 * value: EACCES or EPERM if that is forbidden, ENOSYS, EINVAL or E2BIG if the kernel cannot, others if no register is
 * free. Takes no lock and allocates nothing; may change errno.
 */
int breakpoint_open(const void *address, bool writes_only, uint32_t touches, uint64_t data);

/*
 * Opens an event that counts nothing, and returns what breakpoint_open() returns. While this event is open, opening
 * breakpoints is fast. Otherwise the first breakpoint, and the first one after a second without breakpoints, makes
 * Linux change its code and wait for all processors, which takes 10 to 30 ms.
 */
int breakpoint_open_idle(void);

/*
 * Closes a descriptor that one of these two returned, unless it is negative or of another kind: a program may have
 * closed all of its descriptors, and the number may be that of another file. May change errno.
 */
void breakpoint_close(int descriptor);

struct breakpoint_trap {
  uint64_t data;
  /* The signal was blocked at the access, so its registers are of a later moment. */
  bool came_late;
};

/* Reads a SIGTRAP's data. Returns false if it is not one of a breakpoint. May be called in signal handlers. */
bool breakpoint_trap_of(const siginfo_t *information, struct breakpoint_trap *trap);

#endif
