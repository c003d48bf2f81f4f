/* By pthread_create, with all signals blocked. See thread.h. */
#include "platform/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/glibc_versions.h"
#include "platform/loader.h"

uint32_t thread_id(void) { return (uint32_t)syscall(SYS_gettid); }

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
