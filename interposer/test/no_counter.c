/*
 * Runs a thread that must not read the processor's time-stamp counter. The library must serve and count the thread's
 * calls, and record its samples.
 *
 * The first argument names the case. In "off" and "slots", reading the counter raises SIGSEGV; "slots" also places
 * objects on pages of their own. In "strict", the thread may make only a few system calls (SECCOMP_MODE_STRICT).
 */
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE void *keeper(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static NOINLINE void *deep_keeper(unsigned depth, size_t size) {
  void *object = depth > 0 ? deep_keeper(depth - 1, size) : keeper(size);
  USE(object);
  return object;
}

static void allocate_up_to(size_t largest) {
  static void *objects[400];
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < 400; i++) objects[i] = deep_keeper(i % 50, i * largest / 400);
    for (unsigned i = 0; i < 400; i++) objects[i] = realloc(objects[i], i * 100 + 1);
    for (unsigned i = 0; i < 400; i++) free(objects[i]);
  }
}

static void *allocate_in_thread(void *unused) {
  allocate_up_to(200000);
  return unused;
}

/* ---- No time-stamp counter ----------------------------------------------------------------------------- */

static void switch_counter_off(void) {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) exit(77);
}

static uint64_t samples_of_call_sites(void) {
  static struct mallometer_site sites[16384];
  uint64_t sum = 0;
  int count = mallometer_sites(sites, 16384, 0);
  for (int i = 0; i < count; i++) sum += sites[i].allocated.samples;
  return sum;
}

/* Makes the kernel forbid reads of the time-stamp counter, in the calling thread and in all threads that it starts.
 * These include threads of the library. */
static void nobody_needs_the_counter(void) {
  char path[] = "/tmp/mallometer-XXXXXX";
  int file = mkstemp(path);
  CHECK(file >= 0 && close(file) == 0 && unlink(path) == 0);
  switch_counter_off();
  uint64_t before = samples_of_call_sites();
  struct mallometer_counters start = snapshot();
  allocate_up_to(200000);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, allocate_in_thread, NULL), 0);
  pthread_join(thread, NULL);
  CHECK(samples_of_call_sites() > before + 50);
  struct mallometer_counters end = snapshot();
  CHECK(end.huge_allocations > start.huge_allocations && end.monotonic_ns > start.monotonic_ns);
  struct mallometer_event event;
  CHECK_EQUAL(mallometer_events(&event, 1, end.huge_allocations - 1), 1);
  CHECK(event.realtime_ns > (uint64_t)1500000000 * 1000000000u);
  CHECK(thread_snapshot().monotonic_ns > 0);
  CHECK(self().overhead_ns > 0);
  CHECK_EQUAL(mallometer_record(path), 0);
  if (mallometer_leaks_start() == 0) {
    struct mallometer_observation observation = {0};
    do {
      usleep(10000);
      CHECK_EQUAL(mallometer_leaks(&observation), 0);
    } while (observation.state == MALLOMETER_LEAKS_STARTING);
    printf("leaks: %s\n", observation.reason);
  }
  usleep(1200000); /* the recording writes once a second */
  struct mallometer_recording_status recording = {0};
  CHECK_EQUAL(mallometer_recording(&recording), 0);
  CHECK_EQUAL(recording.state, MALLOMETER_RECORDING_ON);
  CHECK_EQUAL(unlink(path), 0);
}

/* ---- Forbidden system calls ---------------------------------------------------------------------------- */

/* Forbids nearly all system calls, after the allocator has taken enough memory from the kernel. */
static void only_memory_is_needed(void) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  free(keeper(31 << 20));
  uint64_t before = self().samples;
  if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) exit(77);
  allocate_up_to(90000);
  struct mallometer_report report = {0};
  bool sampled = mallometer_self(&report) == 0 && report.samples > before + 50 && report.samples_without_stack == 0;
  syscall(SYS_exit, sampled ? 0 : 1);
}

/* ---- Objects on pages of their own (slots) ------------------------------------------------------------- */

static struct mallometer_observation observed(void) {
  struct mallometer_observation o = {0};
  CHECK_EQUAL(mallometer_leaks(&o), 0);
  return o;
}

static void *use_slots_without_counter(void *unused) {
  uint64_t placed = observed().placed;
  switch_counter_off();
  while (observed().placed < placed + 50) {
    for (int i = 0; i < 1000; i++) free(keeper(100));
  }
  return unused;
}

/* Allocates until 50 objects were on pages of their own (slots). Their lifetimes must be recorded although the thread
 * cannot read the time-stamp counter. */
static void slots_need_no_counter(void) {
  static struct mallometer_site_evidence evidence[8192];
  pthread_t thread;
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SHORTEST_EPOCH, 10), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_EPOCH_OVER_COST, 10), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) usleep(1000);
  if (observed().state != MALLOMETER_LEAKS_ON) {
    printf("not observed: %s\n", observed().reason);
    exit(77);
  }
  CHECK_EQUAL(pthread_create(&thread, NULL, use_slots_without_counter, NULL), 0);
  pthread_join(thread, NULL);
  uint64_t lifetimes = 0;
  int count = mallometer_evidence(evidence, 8192, 0);
  for (int i = 0; i < count; i++) lifetimes += evidence[i].lifetimes.count;
  CHECK(lifetimes >= 50);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  setbuf(stdout, NULL);
  if (strcmp(argv[1], "off") == 0) nobody_needs_the_counter();
  if (strcmp(argv[1], "strict") == 0) only_memory_is_needed();
  if (strcmp(argv[1], "slots") == 0) slots_need_no_counter();
  return 0;
}
