/* Waits by futex(2) and clock_nanosleep(2), called as in platform/system_calls.h. See wait.h. */
#include "platform/wait.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/keep_errno.h"

#define SECOND UINT64_C(1000000000)

static struct timespec time_of(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

void wait_for_change(const uint32_t *word, uint32_t seen, uint64_t longest_ns) {
  struct timespec longest = time_of(longest_ns);
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, longest_ns == WAIT_WITHOUT_LIMIT ? NULL : &longest, NULL, 0);
}

void wait_wake(const uint32_t *word) {
  KEEP_ERRNO;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void wait_until(uint64_t moment_ns) {
  struct timespec moment = time_of(moment_ns);
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
}
