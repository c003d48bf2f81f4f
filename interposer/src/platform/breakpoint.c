/* Watches words of memory by events of perf_event_open(2). See breakpoint.h. */
#include "platform/breakpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/arch.h"
#include "platform/system_calls.h"

/* The struct perf_event_attr of perf_event_open(2). Headers of older systems lack some of its fields. */
struct event {
  uint32_t type;
  uint32_t size;
  uint64_t config;
  uint64_t sample_period;
  uint64_t sample_type;
  uint64_t read_format;
  uint64_t flags;
  uint32_t wakeup_events;
  uint32_t bp_type;
  uint64_t bp_addr;
  uint64_t bp_len;
  uint64_t unused[6];
  uint64_t sig_data;
};
_Static_assert(sizeof(struct event) == 128, "the size must be PERF_ATTR_SIZE_VER7");

#define PERF_TYPE_SOFTWARE 1u
#define PERF_TYPE_BREAKPOINT 5u
#define SOFTWARE_DUMMY 9u
#define BREAKPOINT_WRITE 2u
#define BREAKPOINT_ANY 3u
#define FLAG_DISABLED ((uint64_t)1 << 0)
#define FLAG_EXCLUDE_KERNEL ((uint64_t)1 << 5)
#define FLAG_EXCLUDE_HYPERVISOR ((uint64_t)1 << 6)
#define FLAG_REMOVE_ON_EXEC ((uint64_t)1 << 36)
#define FLAG_SIGTRAP ((uint64_t)1 << 37)
#define OPEN_CLOSE_ON_EXEC 8u
#define IOCTL_REFRESH 0x2402u /* PERF_EVENT_IOC_REFRESH: enables the event for a number of accesses */
#define CODE_OF_PERF 6        /* TRAP_PERF, the si_code of a SIGTRAP that a breakpoint raises */
#define CAME_LATE 1u          /* TRAP_PERF_FLAG_ASYNC: the signal was blocked at the access, and arrived later */

/* The members of siginfo_t from byte 16 on, in a SIGTRAP of a breakpoint. */
struct trap {
  uintptr_t address;
  uint64_t data; /* sig_data of the event */
  uint32_t type;
  uint32_t flags;
};
#define TRAP_OFFSET 16

static int open_event(const struct event *event) {
  long descriptor = syscall(SYS_perf_event_open, event, 0, -1, -1, OPEN_CLOSE_ON_EXEC);
  return descriptor < 0 ? -errno : (int)descriptor;
}

int breakpoint_open(const void *address, bool writes_only, uint32_t touches, uint64_t data) {
  struct event event = {
      .type = PERF_TYPE_BREAKPOINT,
      .size = sizeof event,
      .sample_period = 1,
      .flags = FLAG_DISABLED | FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR | FLAG_REMOVE_ON_EXEC | FLAG_SIGTRAP,
      .bp_type = writes_only ? BREAKPOINT_WRITE : BREAKPOINT_ANY,
      .bp_addr = (uintptr_t)address,
      .bp_len = WATCHPOINT_BYTES,
      .sig_data = data};
  int descriptor = open_event(&event);
  if (descriptor < 0 || ioctl(descriptor, IOCTL_REFRESH, touches) == 0) return descriptor;
  int error = -errno;
  call_close(descriptor);
  return error;
}

int breakpoint_open_idle(void) {
  struct event nothing = {.type = PERF_TYPE_SOFTWARE,
                          .size = sizeof nothing,
                          .config = SOFTWARE_DUMMY,
                          .flags = FLAG_DISABLED | FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR};
  return open_event(&nothing);
}

void breakpoint_close(int descriptor) {
  static const char perf[] = "anon_inode:[perf_event]";
  char path[32] = "/proc/self/fd/", target[sizeof perf], digits[12];
  size_t length = strlen(path), count = 0;
  if (descriptor < 0) return;
  for (unsigned left = (unsigned)descriptor; left > 0 || count == 0; left /= 10)
    digits[count++] = (char)('0' + left % 10);
  while (count > 0) path[length++] = digits[--count];
  path[length] = '\0';
  ssize_t read = readlink(path, target, sizeof target);
  if (read == sizeof perf - 1 && memcmp(target, perf, sizeof perf - 1) == 0) call_close(descriptor);
}

bool breakpoint_trap_of(const siginfo_t *information, struct breakpoint_trap *trap) {
  struct trap told;
  if (information->si_code != CODE_OF_PERF) return false;
  memcpy(&told, (const char *)information + TRAP_OFFSET, sizeof told);
  *trap = (struct breakpoint_trap){.data = told.data, .came_late = told.flags & CAME_LATE};
  return true;
}
