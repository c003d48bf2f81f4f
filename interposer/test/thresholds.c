/*
 * Tests thresholds, which the program opens at run time. The library must record each request above a threshold's
 * size with its thread and stack. When there is no more room, it must keep the first requests and still count the
 * others.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "measured.h"

extern void *memalign(size_t, size_t);

enum { KEPT = 64, MOST = 8 };

static struct mallometer_event events[2 * KEPT];
static uint64_t total;

static uint32_t opened_for(uint64_t bytes, uint32_t thread) {
  int number = mallometer_threshold_open(bytes, thread);
  CHECK(number > 0);
  return (uint32_t)number;
}

static uint32_t opened(uint64_t bytes) { return opened_for(bytes, 0); }

static unsigned requests(uint32_t threshold) {
  int copied = mallometer_threshold_read(threshold, events, 2 * KEPT, &total);
  CHECK(copied >= 0);
  return (unsigned)copied;
}

static void use(void *object) {
  USE(object);
  CHECK(object);
  free(object);
}

/* Makes requests by each function. A request of exactly the threshold's size must not be recorded, but larger
 * requests must be. The sizes are below, at and above LARGEST_FAST_REQUEST. */
static void whatever_is_called(void) {
  static const size_t sizes[] = {100, 4096, 32767, 32768, 200000, (size_t)8 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t size = sizes[i];
    uint32_t threshold = opened(size);
    use(malloc(size)), use(calloc(1, size)), use(realloc(NULL, size));
    CHECK_EQUAL(requests(threshold), 0);
    CHECK_EQUAL(total, 0);
    use(malloc(size + 1));
    use(calloc(1, size + 2));
    use(realloc(malloc(1), size + 3));
    use(memalign(64, size + 4));
    void *object;
    CHECK_EQUAL(posix_memalign(&object, 64, size + 5), 0);
    free(object);
    CHECK(!malloc((size_t)PTRDIFF_MAX)); /* a failed request is not recorded */
    CHECK_EQUAL(requests(threshold), 5);
    CHECK_EQUAL(total, 5);
    for (unsigned e = 0; e < 5; e++) {
      CHECK_EQUAL(events[e].number, e + 1);
      CHECK_EQUAL(events[e].requested_bytes, size + 1 + e);
      CHECK_EQUAL(events[e].thread_id, getpid());
    }
    CHECK_EQUAL(requests(threshold), 0);
    CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
    use(malloc(size + 1));
    CHECK_EQUAL(mallometer_threshold_read(threshold, events, KEPT, NULL), -EINVAL);
  }
}

/* A threshold below MALLOMETER_HUGE must not add requests to the counter and the events of huge requests. */
static void huge_requests_stay(void) {
  const size_t huge = (size_t)64 << 20;
  uint32_t threshold = opened(1000000);
  uint64_t before = snapshot().huge_allocations;
  use(malloc(2000000));
  CHECK_EQUAL(snapshot().huge_allocations, before);
  use(malloc(huge + 1));
  CHECK_EQUAL(snapshot().huge_allocations, before + 1);
  CHECK_EQUAL(mallometer_events(events, KEPT, before), 1);
  CHECK_EQUAL(events[0].requested_bytes, huge + 1);
  CHECK_EQUAL(requests(threshold), 2);
  struct mallometer_report self = {0};
  CHECK_EQUAL(mallometer_self(&self), 0);
  CHECK_EQUAL(self.huge_threshold_bytes, huge);
  CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
  use(malloc(huge + 1));
  CHECK_EQUAL(snapshot().huge_allocations, before + 2);
}

static void the_first_are_kept(void) {
  uint32_t threshold = opened(1000);
  for (size_t round = 0; round < 2; round++) {
    for (size_t i = 1; i <= 3 * KEPT; i++) use(malloc(1000 + i));
    CHECK_EQUAL(requests(threshold), KEPT);
    CHECK_EQUAL(total, (round + 1) * 3 * KEPT);
    for (size_t i = 0; i < KEPT; i++) {
      CHECK_EQUAL(events[i].requested_bytes, 1001 + i);
      CHECK_EQUAL(events[i].number, round * 3 * KEPT + 1 + i);
    }
  }
  for (size_t i = 1; i <= 10; i++) use(malloc(2000 + i));
  CHECK_EQUAL(mallometer_threshold_read(threshold, events, 3, NULL), 3);
  CHECK_EQUAL(events[2].requested_bytes, 2003);
  CHECK_EQUAL(requests(threshold), 7); /* the previous reading took 3 of 10 */
  CHECK_EQUAL(events[0].requested_bytes, 2004);
  CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
}

enum { OTHERS = 5 * KEPT, OF_OTHER = 3 };

static void *request_more(void *size) {
  for (size_t i = 0; i < OTHERS; i++) use(malloc((size_t)size + OF_OTHER));
  return NULL;
}

/* A threshold for one thread must neither record nor count requests of other threads. */
static void of_one_thread(void) {
  static const size_t sizes[] = {100, 32768, (size_t)8 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t size = sizes[i];
    pthread_t other;
    uint32_t own = opened_for(size, (uint32_t)getpid()), all = opened(size), none = opened_for(size, UINT32_MAX);
    CHECK_EQUAL(pthread_create(&other, NULL, request_more, (void *)size), 0);
    CHECK_EQUAL(pthread_join(other, NULL), 0);
    for (size_t e = 0; e < KEPT; e++) use(malloc(size + OF_OTHER + 1 + e));
    use(malloc(size + 1));
    unsigned count = requests(own), mine = 0;
    uint64_t others = 0;
    CHECK_EQUAL(count, KEPT);
    for (unsigned e = 0; e < KEPT; e++) {
      CHECK_EQUAL(events[e].thread_id, getpid());
      mine += events[e].requested_bytes > size + OF_OTHER;
    }
    CHECK(mine + 2 >= KEPT); /* up to two of the requests may come from pthread_create() */
    CHECK(total >= KEPT + 1 && total < KEPT + 10);
    CHECK_EQUAL(requests(all), KEPT);
    for (unsigned e = 0; e < KEPT; e++) others += events[e].requested_bytes == size + OF_OTHER;
    CHECK(others + 2 >= KEPT);
    CHECK(total >= OTHERS + KEPT + 1);
    CHECK_EQUAL(requests(none), 0);
    CHECK_EQUAL(total, 0);
    use(malloc(size + 1));
    CHECK_EQUAL(requests(own), 1);
    CHECK_EQUAL(mallometer_threshold_close(own), 0);
    CHECK_EQUAL(mallometer_threshold_close(all), 0);
    CHECK_EQUAL(mallometer_threshold_close(none), 0);
  }
}

static void several(void) {
  uint32_t thresholds[MOST];
  for (unsigned i = 0; i < MOST; i++) thresholds[i] = opened(1000 * (i + 1));
  CHECK_EQUAL(mallometer_threshold_open(5, 0), -EAGAIN);
  use(malloc(4500));
  for (unsigned i = 0; i < MOST; i++) CHECK_EQUAL(requests(thresholds[i]), i < 4 ? 1 : 0);
  CHECK_EQUAL(mallometer_threshold_close(thresholds[0]), 0);
  use(malloc(1500));
  use(malloc(2500));
  CHECK_EQUAL(requests(thresholds[1]), 1);
  uint32_t again = opened(7);
  use(malloc(8));
  CHECK_EQUAL(requests(again), 1); /* excludes the events of the closed threshold */
  CHECK_EQUAL(events[0].requested_bytes, 8);
  CHECK_EQUAL(mallometer_threshold_close(again), 0);
  for (unsigned i = 1; i < MOST; i++) CHECK_EQUAL(mallometer_threshold_close(thresholds[i]), 0);
}

static void refusals(void) {
  CHECK_EQUAL(mallometer_threshold_open(0, 0), -EINVAL);
  CHECK_EQUAL(mallometer_threshold_open(UINT64_MAX, 0), -EINVAL);
  CHECK_EQUAL(mallometer_threshold_close(0), -EINVAL);
  CHECK_EQUAL(mallometer_threshold_close(1), -EINVAL);
  CHECK_EQUAL(mallometer_threshold_close(UINT32_MAX), -EINVAL);
  uint32_t threshold = opened(1);
  CHECK_EQUAL(mallometer_threshold_read(threshold, NULL, 1, NULL), -EINVAL);
  CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
  CHECK_EQUAL(mallometer_threshold_close(threshold), -EINVAL);
}

static bool done;

static void *requests_until_done(void *unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    use(malloc(500));
    use(malloc(50000));
  }
  return unused;
}

/* No event may mix the values of two requests, although thresholds are opened, closed and read while threads make
 * requests. */
static void under_load(void) {
  enum { THREADS = 3, ROUNDS = 3000 };
  pthread_t ids[THREADS];
  uint64_t read = 0;
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&ids[i], NULL, requests_until_done, NULL), 0);
  for (int i = 0; i < ROUNDS; i++) {
    uint32_t low = opened(400), high = opened(40000);
    for (int times = 0; times < 3; times++) {
      use(malloc(50000));
      for (unsigned count = requests(low), e = 0; e < count; e++) {
        CHECK(events[e].requested_bytes == 500 || events[e].requested_bytes == 50000);
        CHECK(events[e].number > 0 && events[e].number <= total && events[e].thread_id != 0);
        CHECK(e == 0 || events[e].number > events[e - 1].number);
      }
      unsigned count = requests(high);
      for (unsigned e = 0; e < count; e++) CHECK_EQUAL(events[e].requested_bytes, 50000);
      read += count;
    }
    CHECK_EQUAL(mallometer_threshold_close(low), 0);
    CHECK_EQUAL(mallometer_threshold_close(high), 0);
  }
  __atomic_store_n(&done, true, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(ids[i], NULL), 0);
  CHECK(read >= ROUNDS);
}

static void forks(void) {
  int status;
  uint32_t threshold = opened(1000);
  pid_t child = fork();
  if (child == 0) {
    use(malloc(2000));
    CHECK_EQUAL(requests(threshold), 1);
    CHECK_EQUAL(events[0].requested_bytes, 2000);
    CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
    _exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(requests(threshold), 0);
  CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
}

static void errno_stays(void) {
  uint32_t threshold = opened(1000);
  errno = 7;
  use(malloc(2000));
  CHECK_EQUAL(errno, 7);
  CHECK_EQUAL(requests(threshold), 1);
  CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
  CHECK_EQUAL(errno, 7);
}

/*
 * Lets callgrind measure `count` pairs of malloc and free, and ends the process. `kind` selects the threshold.
 *
 * - "none": no threshold.
 * - "above": the requests exceed the threshold.
 * - "other": the requests exceed the threshold, but the threshold is for another thread.
 * - "after": the threshold is closed before the calls.
 * - Any other word: a threshold of 40,000 bytes.
 */
static _Noreturn void pairs(const char *kind, long count, size_t size) {
  bool is_none = strcmp(kind, "none") == 0;
  bool is_other = strcmp(kind, "other") == 0, is_above = is_other || strcmp(kind, "above") == 0;
  uint32_t threshold = is_none ? 0 : opened_for(is_above ? size - 1 : 40000, is_other ? UINT32_MAX : 0);
  if (strcmp(kind, "after") == 0) CHECK_EQUAL(mallometer_threshold_close(threshold), 0);
  MEASURED_ROUNDS(i, count) use(malloc(size));
  _exit(0);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"whatever_is_called", whatever_is_called},
    {"huge_requests_stay", huge_requests_stay},
    {"the_first_are_kept", the_first_are_kept},
    {"of_one_thread", of_one_thread},
    {"several", several},
    {"refusals", refusals},
    {"under_load", under_load},
    {"forks", forks},
    {"errno_stays", errno_stays},
};

int main(int count, char **arguments) {
  CHECK(count > 1);
  if (count > 3) pairs(arguments[1], atol(arguments[2]), (size_t)atol(arguments[3]));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].name, arguments[1]) != 0) continue;
    cases[i].run();
    return 0;
  }
  CHECK(!"no case has this name");
}
