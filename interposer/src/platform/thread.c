/* By pthread_create, with all signals blocked. See thread.h. */
#include "platform/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "platform/glibc_versions.h"
#include "platform/loader.h"
#include "platform/system_calls.h"

uint32_t thread_id(void) { return (uint32_t)syscall(SYS_gettid); }

/* The kernel's number for the clock of a thread's processor time is made of the thread's (clock_getcpuclockid(3)). */
uint32_t thread_id_known(void) {
  clockid_t clock;
  if (!pthread_getcpuclockid || pthread_getcpuclockid(pthread_self(), &clock) != 0) return 0;
  return (uint32_t) ~(clock >> 3);
}

/* What getdents64(2) writes. */
struct entry {
  uint64_t number;
  int64_t next;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

size_t thread_ids(uint32_t *ids, size_t capacity) {
  _Alignas(struct entry) char entries[4096];
  size_t count = 0;
  long length;
  int folder = call_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
  while (folder >= 0 && (length = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
    const struct entry *entry;
    for (long at = 0; at < length && count < capacity; at += entry->bytes) {
      entry = (const struct entry *)(entries + at);
      uint32_t id = 0;
      for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++) id = id * 10 + (uint32_t)(*c - '0');
      if (id > 0) ids[count++] = id;
    }
  }
  if (folder >= 0) call_close(folder);
  return count;
}

uintptr_t thread_robust_list(uint32_t id) {
  uintptr_t head = 0;
  size_t bytes = 0;
  return syscall(SYS_get_robust_list, id, &head, &bytes) == 0 ? head : 0;
}

void thread_name(char name[THREAD_NAME_BYTES]) {
  int saved_errno = errno;
  if (prctl(PR_GET_NAME, name) != 0) name[0] = '\0';
  errno = saved_errno;
}

void thread_set_name(const char *name) { prctl(PR_SET_NAME, name); }

/*
 * glibc takes a thread's copy of all thread-local variables from its stack. How much that is, and that it leaves little
 * or nothing of a small stack, only a function without declaration tells; the JVM asks it too.
 */
static size_t bytes_of_c_library(const pthread_attr_t *attributes) {
  size_t (*minimum)(const pthread_attr_t *);
  void *address = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
  memcpy(&minimum, &address, sizeof minimum);
  if (address) return minimum(attributes);
  forget_loader_errors();
  return 0;
}

size_t thread_start(void *(*run)(void *), size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (!pthread_create || !pthread_attr_setstacksize) return 0; /* a program without libpthread */
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  size_t stack = stack_bytes + bytes_of_c_library(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool started = pthread_create(&thread, &attributes, run, NULL) == 0;
  pthread_attr_destroy(&attributes);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return started ? stack : 0;
}
