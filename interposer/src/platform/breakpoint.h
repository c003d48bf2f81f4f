/*
 * Breakpoints on data, by the processor's debug registers: a thread that accesses the word gets a SIGTRAP. Needs Linux
 * 5.13 or later.
 *
 * A breakpoint reacts to accesses by the thread that opened it. It does not react when the kernel accesses the word in
 * a system call of that thread. A breakpoint is a file descriptor, which a forked child inherits.
 */
#ifndef MALLOMETER_PLATFORM_BREAKPOINT_H
#define MALLOMETER_PLATFORM_BREAKPOINT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Watches 8 bytes at `address`, a multiple of 8, in the calling thread. The kernel disarms the breakpoint after
 * `touches` accesses. Each trap passes `data` to the handler. Returns a descriptor, or a negative errno value: EACCES
 * or EPERM if breakpoints are forbidden; ENOSYS, EINVAL or E2BIG if the kernel does not support them; another value
 * if no debug register is free. Does not lock or allocate; may change errno.
 */
int breakpoint_open(const void *address, bool writes_only, uint32_t touches, uint64_t data);

/*
 * Opens an event that counts nothing, so that later breakpoints open quickly. After a second without an open event,
 * Linux patches its own code when the next event is opened, and waits 10 to 30 ms for all processors. Returns a
 * descriptor or a negative errno value, like breakpoint_open().
 */
int breakpoint_open_idle(void);

/* Closes a descriptor of the functions above; ignores negative values. Does nothing if the descriptor now belongs to
 * another kind of file: the program may have closed all descriptors and opened new ones. May change errno. */
void breakpoint_close(int descriptor);

struct breakpoint_trap {
  uint64_t data;
  /* Whether the signal was blocked at the access, and arrived later. The signal's context then has the registers of
   * the later moment, not those at the access. */
  bool came_late;
};

/*
 * Reads the data of a SIGTRAP. Returns false if it does not come from a breakpoint. May be called in signal handlers.
 */
bool breakpoint_trap_of(const siginfo_t *information, struct breakpoint_trap *trap);

#endif
