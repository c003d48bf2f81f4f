/*
 * Interrupts the library's malloc and free at any place by a signal whose handler allocates. No allocation or free
 * may be lost or counted twice. Another thread sends the signals. An emulator that executes one instruction at a time
 * (QEMU_SINGLESTEP) delivers them between any two instructions.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>

#include "check.h"
#include "own_code.h"

#if defined(__x86_64__)
#define PROGRAM_COUNTER(machine) (machine).gregs[REG_RIP]
#elif defined(__aarch64__)
#define PROGRAM_COUNTER(machine) (machine).pc
#endif

#if !defined(PROGRAM_COUNTER)
int main(void) { return 77; }
#else

static unsigned handled, wanted;
static sem_t begun, received;

static void handle(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  uintptr_t at = (uintptr_t)PROGRAM_COUNTER(((ucontext_t *)context)->uc_mcontext);
  if (is_in_code(at)) { /* excludes the allocator, in which the handler must not call malloc */
    free(malloc(33));
    __atomic_store_n(&handled, handled + 1, __ATOMIC_RELAXED);
  }
  sem_post(&received);
}

static void *send(void *main_thread) {
  sem_wait(&begun);
  while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < wanted) {
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    sem_wait(&received);
  }
  return NULL;
}

int main(int count, char **arguments) {
  wanted = count > 1 ? (unsigned)atoi(arguments[1]) : 3000;
  find_code_of("libmallometer");
  CHECK(code_end > code_begin);
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  sem_init(&begun, 0, 0);
  sem_init(&received, 0, 0);
  pthread_t self = pthread_self(), sender;
  CHECK_EQUAL(pthread_create(&sender, NULL, send, &self), 0);
  struct mallometer_counters start = snapshot();
  sem_post(&begun);
  uint64_t pairs = 0;
  while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < wanted) {
    for (int i = 0; i < 100; i++) {
      void *object = malloc(100);
      object = realloc(object, 2000);
      free(object);
    }
    pairs += 100;
  }
  pthread_join(sender, NULL);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 2 * pairs + handled);
  CHECK_EQUAL(d.frees, 2 * pairs + handled);
  CHECK_EQUAL(d.requested_bytes, 2100 * pairs + 33 * handled);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
#endif
