/* See own_thread.h. */
#include "account/own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#include "account/thread_block.h"
#include "allocator/next.h"
#include "platform/glibc_versions.h"

#define STACK_BYTES ((size_t)128 << 10) /* beside what the C library puts there */

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

size_t own_thread_start(void *(*run)(void *)) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (!pthread_create || !pthread_attr_setstacksize) return 0; /* a program without libpthread */
  sigset_t all, before;
  sigfillset(&all);
  struct thread_block *own = thread_block_leave();
  sigprocmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  size_t stack = STACK_BYTES + bytes_of_c_library(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool started = pthread_create(&thread, &attributes, run, NULL) == 0;
  pthread_attr_destroy(&attributes);
  sigprocmask(SIG_SETMASK, &before, NULL);
  thread_block_return(own);
  return started ? stack : 0;
}

void own_thread_begins(const char *name) {
  thread_block_leave();
  prctl(PR_SET_NAME, name);
}
