/*
 * Allocates on small stacks of several kinds. All allocations must succeed and be counted, also large and huge ones.
 */
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

enum { ALLOCATIONS = 10 };

static void allocate(void) {
  void *objects[ALLOCATIONS - 1];
  for (size_t i = 0; i < ALLOCATIONS - 1; i++) {
    objects[i] = i % 2 ? calloc(1, i * 3000) : malloc(i * 3000 + ((size_t)i << 17));
    CHECK(objects[i]);
  }
  objects[0] = realloc(objects[0], 20000);
  for (size_t i = 0; i < ALLOCATIONS - 1; i++) free(objects[i]);
}

static uint64_t visits;

static void counted_since(struct mallometer_counters start, uint64_t expected_visits) {
  CHECK_EQUAL(visits, expected_visits);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), visits * ALLOCATIONS);
  CHECK_EQUAL(d.frees, visits * ALLOCATIONS);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  visits = 0;
}

static void handler(int signal) {
  (void)signal;
  allocate();
  visits++;
}

static void on_an_alternate_stack(void) {
  static char memory[32 * 1024];
  stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR2, &action, NULL);
  struct mallometer_counters start = snapshot();
  for (int i = 0; i < 100; i++) raise(SIGUSR2);
  counted_since(start, 100);
}

static void *in_thread(void *unused) {
  allocate();
  visits++;
  return unused;
}

static void in_a_thread_with(size_t bytes) {
  long least = sysconf(_SC_THREAD_STACK_MIN);
  if ((long)bytes < least) bytes = (size_t)least;
  /* Supplies the stack, so that the C library does not allocate one. */
  void *memory = memalign(4096, bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK_EQUAL(pthread_attr_setstack(&attributes, memory, bytes), 0);
  pthread_t thread;
  /* The C library allocates tables for the first thread and reuses them, so only the last thread is checked. */
  struct mallometer_counters start = {0};
  for (int i = 0; i < 3; i++) {
    visits = 0;
    start = snapshot();
    CHECK_EQUAL(pthread_create(&thread, &attributes, in_thread, NULL), 0);
    pthread_join(thread, NULL);
  }
  struct mallometer_counters d = difference(start, snapshot());
  CHECK(mallometer_allocations(&d) >= ALLOCATIONS && mallometer_allocations(&d) <= ALLOCATIONS + 1);
  CHECK_EQUAL(visits, 1);
  free(memory);
  visits = 0;
}

static ucontext_t main_context, other_context;

static void on_other_stack(void) {
  for (int i = 0; i < 50; i++) {
    allocate();
    visits++;
    swapcontext(&other_context, &main_context);
  }
}

static void on_a_stack_made_by_hand(void) {
  char *memory = malloc(16 * 1024);
  getcontext(&other_context);
  other_context.uc_stack.ss_sp = memory;
  other_context.uc_stack.ss_size = 16 * 1024;
  other_context.uc_link = &main_context;
  makecontext(&other_context, on_other_stack, 0);
  struct mallometer_counters start = snapshot();
  for (int i = 0; i < 50; i++) swapcontext(&main_context, &other_context);
  counted_since(start, 50);
  free(memory);
}

int main(void) {
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  on_an_alternate_stack();
  in_a_thread_with((size_t)sysconf(_SC_THREAD_STACK_MIN));
  in_a_thread_with(64 * 1024);
  on_a_stack_made_by_hand();
  return 0;
}
