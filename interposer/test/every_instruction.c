/*
 * Interrupts the library's malloc and free by a signal whose handler allocates, frees and reads the counters. The
 * processor's trap flag raises SIGTRAP after each instruction. No allocation or free ("event") may be lost or counted
 * twice, and no thread's block of counters (account/thread_block.h) may be lost. The allocator below the library is not
 * interrupted, because allocators need not be safe in signal handlers.
 *
 * Some cases run repeatedly. Each run interrupts one instruction of the library, five instructions later than the
 * previous run did. The distance is 65 instructions if the handler calls mallometer_scope_close().
 *
 * The first argument may be:
 * - all: the distances are 1 and 13 instructions instead of 5 and 65.
 * - marked: like `all`, for a build of the library that marks a thread's block of counters while it counts an event
 *   (EVENTS_ARE_MARKED). If a handler interrupts such an event, the handler's events are counted for the process, but
 *   not for the thread.
 * - routes: during the interruption another thread chooses a route (the set of functions that serve malloc and free).
 *   The chosen route must stay in effect.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

#include "check.h"
#include "own_code.h"

#if !defined(__x86_64__)
int main(void) { return 77; }
#else

static bool marked;

/* The distance, in instructions, between the interruptions of two successive runs of a case. In cases with scopes
 * the distance is 13 * `apart`. */
static int64_t apart = 5;

static struct mallometer_counters counted(void) { return marked ? snapshot() : thread_snapshot(); }

/* The handler counts the library's instructions in `seen`. It acts at instruction number `chosen`, or at each
 * instruction if `chosen` is -1. */
static __thread int64_t seen;
static __thread int64_t chosen = -1;
static __thread uint64_t interruptions;

static uint32_t scopes[2];

static void end_scopes(void) {
  for (unsigned i = 0; i < 2; i++) {
    int result = mallometer_scope_close(scopes[i], NULL);
    CHECK(result == 0 || result == -EINVAL);
  }
}

static void (*instead)(void);

static void interrupt(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  if (!is_in_code(at)) return;
  if (chosen >= 0 && seen++ != chosen) return;
  if (instead) instead();
  void *object = malloc(33);
  CHECK(object);
  memset(object, 1, 33);
  free(object);
  struct mallometer_counters s = {0};
  CHECK_EQUAL(mallometer_snapshot(&s), 0);
  CHECK_EQUAL(mallometer_thread_snapshot(&s), 0);
  interruptions++;
  if (chosen >= 0) ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100; /* disables the trap */
}

/* Sets the trap flag without writing to the red zone, the 128 bytes below the stack pointer that the compiler may
 * use. */
static inline void trap(void) {
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
                       : "memory", "cc");
}

static inline void untrap(void) {
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
                       : "memory", "cc");
}

static void every_function(void) {
  volatile size_t too_much = PTRDIFF_MAX;
  void *object = malloc(100);
  object = realloc(object, 2000);
  object = realloc(object, 100000);
  CHECK(!realloc(object, too_much));
  free(object);
  free(calloc(5, 50));
  free(calloc(3, 50000));
  object = realloc(malloc(200000), 300000);
  free(realloc(object, 30));
  free(memalign(128, 100));
  free(valloc(5));
  CHECK_EQUAL(posix_memalign(&object, 64, 300), 0);
  free(object);
  free(malloc((size_t)70 << 20));
  CHECK(!malloc(too_much));
  free(reallocarray(NULL, 5, 5));
}

static void nothing_is_lost(void) {
  every_function();
  struct mallometer_counters start = counted();
  every_function();
  struct mallometer_counters plain = difference(start, counted());

  interruptions = 0;
  start = counted();
  trap();
  every_function();
  untrap();
  struct mallometer_counters d = difference(start, counted());
  CHECK(interruptions > 200);
  CHECK_EQUAL(mallometer_allocations(&d), mallometer_allocations(&plain) + interruptions);
  CHECK_EQUAL(d.frees, plain.frees + interruptions);
  CHECK_EQUAL(d.failed, plain.failed);
  CHECK_EQUAL(d.requested_bytes, plain.requested_bytes + 33 * interruptions);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
}

static volatile bool was_interrupted;

static void *first_event(void *number) {
  chosen = (int64_t)(intptr_t)number;
  struct mallometer_counters start = marked ? snapshot() : (struct mallometer_counters){0};
  trap();
  free(malloc(10));
  untrap();
  was_interrupted = interruptions > 0;
  struct mallometer_counters own = difference(start, counted());
  CHECK_EQUAL(mallometer_allocations(&own), 1 + interruptions);
  CHECK_EQUAL(own.frees, 1 + interruptions);
  return NULL;
}

/* Starts threads one after another, and interrupts the first malloc and free of each thread at one instruction. The
 * position of this instruction increases from thread to thread. */
static void no_block_is_lost(void) {
  intptr_t number = 0;
  do {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, first_event, (void *)number), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(snapshot().threads, 1);
    number += apart;
  } while (was_interrupted);
  CHECK(number > 50);
}

/* ---- Routes: the functions that serve malloc and free ------------------------------------------------- */

/*
 * A round is interrupted STRIDE instructions later than the previous round. STRIDE is small, so that some round
 * interrupts the library between its choice of the functions for malloc and free and the store of this choice.
 */
enum { STRIDE = 7 };

static sem_t others_turn, mains_turn;
static bool ended;

static void let_other_go_on(void) {
  sem_post(&others_turn);
  sem_wait(&mains_turn);
}

static void let_main_go_on(void) {
  sem_post(&mains_turn);
  sem_wait(&others_turn);
}

static void *use_matched_scopes(void *unused) {
  for (sem_wait(&others_turn); !ended; let_main_go_on()) {
    int scope = mallometer_scope_open(MALLOMETER_SCOPE_MATCHED);
    CHECK(scope > 0);
    let_main_go_on();
    free(realloc(malloc(100), 2000));
    struct mallometer_scope figures = {0};
    CHECK_EQUAL(mallometer_scope_close((uint32_t)scope, &figures), 0);
    CHECK_EQUAL(figures.temporary_allocations, 2);
    CHECK_EQUAL(figures.retained_allocations, 0);
  }
  return unused;
}

static void let_other_open(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (!is_in_code((uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]) || seen++ != chosen) return;
  let_other_go_on();
  interruptions++;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

/*
 * realloc must report old addresses of objects to each scope with MALLOMETER_SCOPE_MATCHED. After the last such scope
 * is closed, the library chooses a faster realloc, which reports no addresses. Here another thread opens such a scope
 * after the library has made this choice, but before it stores the choice.
 */
static void no_route_is_stale(void) {
  struct sigaction action = {.sa_sigaction = let_other_open, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  CHECK_EQUAL(sem_init(&others_turn, 0, 0) | sem_init(&mains_turn, 0, 0), 0);
  pthread_t other;
  CHECK_EQUAL(pthread_create(&other, NULL, use_matched_scopes, NULL), 0);
  bool reached = true;
  for (chosen = 0; reached; chosen += STRIDE) {
    int scope = mallometer_scope_open(MALLOMETER_SCOPE_MATCHED);
    CHECK(scope > 0);
    uint64_t before = interruptions;
    seen = 0;
    trap();
    (void)mallometer_scope_close((uint32_t)scope, NULL);
    untrap();
    reached = interruptions != before;
    if (reached) let_other_go_on();
  }
  CHECK(chosen > 100);
  ended = true;
  sem_post(&others_turn);
  pthread_join(other, NULL);
}

/* Calls `round` repeatedly. In each call `handler` runs at one instruction, 13 * `apart` instructions later than in
 * the previous call. Ends after a call with so few instructions that the handler did not run. */
static void at_many_instructions(void (*round)(void), void (*handler)(void)) {
  instead = handler;
  for (chosen = 0;; chosen += 13 * apart) {
    seen = 0;
    interruptions = 0;
    round();
    if (interruptions == 0) break;
  }
  CHECK(chosen > 200);
  chosen = -1;
  instead = NULL;
}

static void events_in_scopes(uint32_t options) {
  for (unsigned i = 0; i < 2; i++) {
    int number = mallometer_scope_open(options);
    CHECK(number > 0);
    scopes[i] = (uint32_t)number;
  }
  trap();
  void *object = malloc(100), *large = malloc(60000);
  free(malloc(0));
  object = realloc(object, 2000);
  free(large);
  free(object);
  untrap();
  end_scopes();
  free(malloc(10)); /* lets the library drop the scopes that the handler has closed */
  CHECK_EQUAL(mallometer_scope_close(scopes[0], NULL), -EINVAL);
  /* No scope may be left: the figures of a new scope must not include earlier allocations. */
  struct mallometer_scope figures = {0};
  int number = mallometer_scope_open(options);
  CHECK(number > 0);
  free(malloc(3000));
  CHECK_EQUAL(mallometer_scope_close((uint32_t)number, &figures), 0);
  CHECK_EQUAL(figures.largest_bytes, 3000);
  CHECK_EQUAL(figures.frees, 1);
}

static void events_in_unmatched_scopes(void) { events_in_scopes(MALLOMETER_SCOPE_THREAD); }
static void events_in_matched_scopes(void) { events_in_scopes(MALLOMETER_SCOPE_MATCHED); }

int main(int count, char **arguments) {
  marked = count > 1 && strcmp(arguments[1], "marked") == 0;
  if (count > 1) apart = 1;
  find_code_of(marked ? "libmarked" : "libmallometer");
  CHECK(code_end > code_begin);
  struct sigaction action = {.sa_sigaction = interrupt, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  if (count > 1 && strcmp(arguments[1], "routes") == 0) {
    no_route_is_stale();
    return 0;
  }
  nothing_is_lost();
  no_block_is_lost();
  at_many_instructions(events_in_unmatched_scopes, end_scopes);
  at_many_instructions(events_in_matched_scopes, end_scopes);
  return 0;
}
#endif
