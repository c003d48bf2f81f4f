/* Runs the thread, which waits until the word `calls` changes. See java_thread.h. */
#include "jvm/java_thread.h"

#include <stdint.h>

#include "account/own_thread.h"
#include "platform/clock.h"
#include "platform/wait.h"

/* The JVM's guard pages and the pages that it keeps free for its own code take some 150 KiB of this stack. */
#define STACK_BYTES ((size_t)1 << 20)
#define POLL_NS 1000000u
#define MOST_POLLS 100u
/* The thread rests after its work, for REST_OF_COST times the CPU time of the work, but at most LONGEST_REST_NS.
 * LONGEST_REST_NS must be shorter than the longest wait of java_thread_close_and_wait(). */
#define REST_OF_COST 40u
#define LONGEST_REST_NS 80000000u

enum { NONE, RUNNING, REFUSED };
static int state = NONE;
static uint32_t calls; /* changes at each call of java_thread_wake() */
static bool ending;
static bool closed; /* whether the JVM is ending or has ended */
static size_t stack_bytes;
static JavaVM *vm;
static void (*wanted_work)(void);
static uint64_t earlier_ns; /* the CPU time of the threads that ran before the present one */
static uint64_t spent_ns;   /* the CPU time of all threads so far, including the present one */

static void work_until_the_end(void) {
  uint32_t seen = 0;
  while (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
    uint32_t now = __atomic_load_n(&calls, __ATOMIC_ACQUIRE);
    if (now == seen) {
      wait_for_change(&calls, seen, WAIT_WITHOUT_LIMIT);
      continue;
    }
    seen = now;
    uint64_t before = thread_cpu_ns();
    wanted_work();
    uint64_t spent = thread_cpu_ns();
    __atomic_store_n(&spent_ns, earlier_ns + spent, __ATOMIC_RELAXED);
    uint64_t rest = REST_OF_COST * (spent - before);
    if (__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) return;
    wait_until(monotonic_ns() + (rest < LONGEST_REST_NS ? rest : LONGEST_REST_NS));
  }
}

static void *run(void *unused) {
  own_thread_begin("mallometer-nam");
  void *thread = NULL;
  char name[] = "mallometer-names";
  JavaVMAttachArgs description = {.version = JNI_VERSION_1_6, .name = name};
  if ((*vm)->AttachCurrentThreadAsDaemon(vm, &thread, &description) == JNI_OK) {
    work_until_the_end();
    (*vm)->DetachCurrentThread(vm);
  }
  own_thread_end();
  /* A thread that the JVM refused is not started again. */
  __atomic_store_n(&state, thread ? NONE : REFUSED, __ATOMIC_RELEASE);
  return unused;
}

void java_thread_start(JavaVM *jvm, void (*work)(void)) {
  if (!jvm || __atomic_load_n(&state, __ATOMIC_ACQUIRE) != NONE) return;
  vm = jvm;
  wanted_work = work;
  earlier_ns = spent_ns;
  __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&ending, false, __ATOMIC_RELAXED);
  __atomic_store_n(&state, RUNNING, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&closed, __ATOMIC_SEQ_CST)) {
    __atomic_store_n(&state, REFUSED, __ATOMIC_RELEASE);
    return;
  }
  stack_bytes = own_thread_start_with(run, STACK_BYTES);
  if (!stack_bytes) __atomic_store_n(&state, NONE, __ATOMIC_RELEASE);
}

void java_thread_wake(void) {
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != RUNNING) return;
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELEASE);
  wait_wake(&calls);
}

void java_thread_end(void) {
  if (__atomic_load_n(&state, __ATOMIC_SEQ_CST) != RUNNING) return;
  __atomic_store_n(&ending, true, __ATOMIC_RELEASE);
  java_thread_wake();
}

void java_thread_close_and_wait(void) {
  __atomic_store_n(&closed, true, __ATOMIC_SEQ_CST);
  java_thread_end();
  for (unsigned i = 0; i < MOST_POLLS && __atomic_load_n(&state, __ATOMIC_ACQUIRE) == RUNNING; i++) {
    wait_until(monotonic_ns() + POLL_NS);
  }
}

void java_thread_forked(void) { state = NONE; }

uint64_t java_thread_overhead_ns(void) { return __atomic_load_n(&spent_ns, __ATOMIC_RELAXED); }

size_t java_thread_footprint(void) { return __atomic_load_n(&state, __ATOMIC_RELAXED) == RUNNING ? stack_bytes : 0; }
