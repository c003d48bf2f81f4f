/* Tests functions of mallometer.h: differences of snapshots, switching counting off and on, the peak of live bytes,
 * and events of huge requests. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void null_is_refused(void) {
  CHECK_EQUAL(mallometer_snapshot(NULL), -EINVAL);
  CHECK_EQUAL(mallometer_thread_snapshot(NULL), -EINVAL);
  CHECK_EQUAL(mallometer_self(NULL), -EINVAL);
  CHECK_EQUAL(mallometer_leaks(NULL), -EINVAL);
  CHECK_EQUAL(mallometer_recording(NULL), -EINVAL);
  CHECK_EQUAL(mallometer_allocator(NULL, NULL, 0), -EINVAL);
}

static void largest_and_huge(void) {
  struct mallometer_counters base = snapshot();
  free(malloc((size_t)80 << 20));
  struct mallometer_counters after = snapshot();
  CHECK_EQUAL(after.largest_request_bytes, (size_t)80 << 20);
  CHECK_EQUAL(after.huge_allocations - base.huge_allocations, 1);
}

static uint64_t time_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *allocate_much(void *unused) {
  pthread_setname_np(pthread_self(), "much");
  free(malloc(((size_t)64 << 20) + 1));
  free(malloc((size_t)64 << 20)); /* equals the threshold, so the request is not huge */
  return unused;
}

static void huge_requests_are_told_one_by_one(void) {
  enum { KEPT = 64, READ = 2 * KEPT };
  static struct mallometer_event events[READ];
  uint64_t before = time_ns(CLOCK_REALTIME_COARSE), known = snapshot().huge_allocations;
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, allocate_much, NULL), 0);
  pthread_join(thread, NULL);
  CHECK_EQUAL(mallometer_events(events, READ, known), 1);
  CHECK_EQUAL(events->number, known + 1);
  CHECK_EQUAL(events->requested_bytes, ((size_t)64 << 20) + 1);
  CHECK_EQUAL(strcmp(events->thread_name, "much"), 0);
  CHECK(events->thread_id != (uint32_t)getpid());
  /* An event has the time of a clock's latest reading (platform/clock.h) if there is no vDSO, as under Valgrind. */
  uint64_t inexact = getauxval(AT_SYSINFO_EHDR) ? 0 : 1000000000u;
  CHECK(events->realtime_ns + inexact >= before && events->realtime_ns <= time_ns(CLOCK_REALTIME) + inexact);

  for (size_t i = 1; i <= KEPT + 3; i++) free(malloc(((size_t)65 << 20) + i));
  CHECK_EQUAL(mallometer_events(events, READ, known), KEPT);
  for (size_t i = 0; i < KEPT; i++) {
    CHECK_EQUAL(events[i].number, known + 1 + 4 + i);
    CHECK_EQUAL(events[i].requested_bytes, ((size_t)65 << 20) + 4 + i);
    CHECK_EQUAL(events[i].thread_id, getpid());
  }
}

static void off_is_off(void) {
  CHECK_EQUAL(snapshot().flags, 0);
  CHECK_EQUAL(mallometer_disable(), 0);
  CHECK_EQUAL(self().state, MALLOMETER_STATE_DISABLED);
  struct mallometer_counters start = snapshot();
  for (int i = 0; i < 1000; i++) {
    free(malloc(64));
    free(calloc(2, 64));
    free(realloc(malloc(64), 128));
  }
  CHECK(malloc((volatile size_t){SIZE_MAX}) == NULL);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 0);
  CHECK_EQUAL(d.frees, 0);
  CHECK_EQUAL(d.failed, 0);
  CHECK_EQUAL(d.flags, MALLOMETER_INCOMPLETE);
  void *uncounted = malloc(1000000);
  uint64_t peak_before = snapshot().peak_live_bytes;
  CHECK_EQUAL(mallometer_enable(), 0);
  free(uncounted); /* lowers the live bytes by an object that was not counted; the peak must not underflow */
  CHECK_EQUAL(snapshot().peak_live_bytes, peak_before);
  start = snapshot();
  free(malloc(64));
  d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 1);
  CHECK_EQUAL(d.flags, MALLOMETER_INCOMPLETE); /* the live bytes stay unknown after counting was off */
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
}

int main(void) {
  null_is_refused();
  largest_and_huge();
  huge_requests_are_told_one_by_one();
  off_is_off();
  return 0;
}
