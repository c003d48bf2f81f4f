/* Tests the thread that the library attaches to the JVM: its work, its CPU time, how it ends, and a JVM that refuses to
 * attach it. The test supplies the JVM's functions. */
#include "jvm/java_thread.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account/own_thread.h"
#include "check.h"
#include "platform/clock.h"
#include "platform/wait.h"

#define STACK_BYTES ((size_t)1 << 20)

static int attached, detached, starts, works;
static uint64_t cpu_ns, latest_wait_ns;
static jint answer = JNI_OK;

static jint JNICALL attach_as_daemon(JavaVM *vm, void **thread, void *arguments) {
  (void)vm, (void)arguments;
  *thread = answer == JNI_OK ? &attached : NULL;
  __atomic_fetch_add(&attached, 1, __ATOMIC_RELAXED);
  return answer;
}

static jint JNICALL detach(JavaVM *vm) {
  (void)vm;
  __atomic_fetch_add(&detached, 1, __ATOMIC_RELAXED);
  return JNI_OK;
}

static const struct JNIInvokeInterface_ functions = {.AttachCurrentThreadAsDaemon = attach_as_daemon,
                                                     .DetachCurrentThread = detach};
static JavaVM java = &functions;

size_t own_thread_start_with(void *(*run)(void *), size_t stack_bytes) {
  pthread_t thread;
  starts++;
  CHECK_EQUAL(pthread_create(&thread, NULL, run, NULL), 0);
  pthread_detach(thread);
  return stack_bytes;
}
void own_thread_begin(const char *name) { (void)name; }
void own_thread_end(void) {}

uint64_t monotonic_ns(void) { return 0; }
uint64_t thread_cpu_ns(void) { return cpu_ns; }
void wait_until(uint64_t time_ns) {
  __atomic_store_n(&latest_wait_ns, time_ns, __ATOMIC_RELAXED);
  usleep(1000);
}
void wait_for_change(const uint32_t *word, uint32_t seen, uint64_t longest_ns) {
  (void)longest_ns;
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seen) usleep(100);
}
void wait_wake(const uint32_t *word) { (void)word; }

static int wakes_at_work; /* the number of calls of work() that will still wake the thread */

static void work(void) {
  cpu_ns = 1000;
  if (wakes_at_work-- > 0) java_thread_wake();
  __atomic_fetch_add(&works, 1, __ATOMIC_RELAXED);
}

static void await(uint64_t wanted) {
  for (int i = 0; i < 100000 && java_thread_overhead_ns() < wanted; i++) usleep(100);
  CHECK_EQUAL(java_thread_overhead_ns(), wanted);
}

static void end(void) {
  java_thread_end();
  for (int i = 0; i < 100000 && java_thread_footprint() > 0; i++) usleep(100);
  CHECK_EQUAL(java_thread_footprint(), 0);
}

/* A wake must always lead to a call of work(), even during work() or during the pause afterwards. */
static void works_again_after_each_wake(void) {
  wakes_at_work = 3;
  works = 0;
  java_thread_start(&java, work);
  java_thread_wake();
  for (int i = 0; i < 100000 && __atomic_load_n(&works, __ATOMIC_RELAXED) < 4; i++) usleep(100);
  CHECK_EQUAL(works, 4);
  java_thread_wake();
  for (int i = 0; i < 100000 && __atomic_load_n(&works, __ATOMIC_RELAXED) < 5; i++) usleep(100);
  CHECK_EQUAL(works, 5);
  end();
}

/* No thread may start after the JVM has ended. */
static void closes_for_good(void) {
  java_thread_start(&java, work);
  int before = starts;
  for (int i = 0; i < 100 && java_thread_footprint() > 0; i++) java_thread_close_and_wait();
  CHECK_EQUAL(java_thread_footprint(), 0);
  CHECK_EQUAL(attached, detached);
  for (int i = 0; i < 2; i++) java_thread_start(&java, work);
  CHECK_EQUAL(starts, before);
  CHECK_EQUAL(java_thread_footprint(), 0);
}

static void is_not_asked_again_after_a_refusal(void) {
  int before = starts, detached_before = detached;
  answer = JNI_ERR;
  java_thread_start(&java, work);
  for (int i = 0; i < 100000 && java_thread_footprint() > 0; i++) usleep(100);
  java_thread_start(&java, work);
  CHECK_EQUAL(starts, before + 1);
  CHECK_EQUAL(detached, detached_before);
  int worked = works;
  java_thread_wake();
  CHECK_EQUAL(works, worked);
}

int main(void) {
  CHECK_EQUAL(java_thread_overhead_ns(), 0);
  for (unsigned run = 1; run <= 2; run++) {
    java_thread_start(&java, work);
    java_thread_start(&java, work);
    CHECK_EQUAL(starts, run);
    CHECK_EQUAL(java_thread_footprint(), STACK_BYTES);
    java_thread_wake();
    await(1000 * run);
    CHECK_EQUAL(works, run);
    /* The pause is 40 times the CPU time of the work. */
    for (int i = 0; i < 100000 && __atomic_load_n(&latest_wait_ns, __ATOMIC_RELAXED) != 40 * 1000; i++) usleep(100);
    CHECK_EQUAL(__atomic_load_n(&latest_wait_ns, __ATOMIC_RELAXED), 40 * 1000);
    latest_wait_ns = cpu_ns = 0;
    end();
    CHECK_EQUAL(detached, run);
  }
  works_again_after_each_wake();
  pid_t child = fork();
  if (child == 0) {
    is_not_asked_again_after_a_refusal();
    return 0;
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  closes_for_good();
  return 0;
}
