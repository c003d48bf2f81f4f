/*
 * Measures the longest time that one of eight threads takes for a malloc and a free while the library attaches and
 * detaches. To separate waits for the scheduler, the process runs with a high priority, the first round does not
 * attach, and waits for a processor are counted separately.
 *
 *   attach_waits LIBRARY CYCLES PAUSE
 *
 * Each thread sleeps for PAUSE microseconds after each hundred allocations and frees, to leave processors idle.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "attach.h"

enum { BUSY = 8, OBJECTS = 256 };
static volatile bool stop;
static unsigned pause_us;

struct waits {
  uint64_t events, longest_ns, longest_blocked_ns, blocked_over_1_ms;
};

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static long times_blocked(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

static void *allocate(void *argument) {
  const uint64_t long_ns = 100000;
  struct waits *waits = argument;
  uint32_t random = (uint32_t)(uintptr_t)argument;
  static __thread void *objects[OBJECTS];
  long blocked = times_blocked();
  for (; !stop; waits->events++) {
    random = random * 1103515245u + 12345u;
    unsigned k = (random >> 8) % OBJECTS;
    uint64_t begin = now_ns();
    free(objects[k]);
    objects[k] = malloc(1 + (random >> 16) % 3000);
    uint64_t took = now_ns() - begin;
    if (took > waits->longest_ns) waits->longest_ns = took;
    if (took > long_ns) {
      bool has_blocked = times_blocked() != blocked;
      if (has_blocked && took > waits->longest_blocked_ns) waits->longest_blocked_ns = took;
      waits->blocked_over_1_ms += has_blocked && took > 1000000;
    }
    if (pause_us > 0 && waits->events % 100 == 0) usleep(pause_us);
    if (took > long_ns || waits->events % 100 == 0) blocked = times_blocked();
  }
  for (int i = 0; i < OBJECTS; i++) free(objects[i]);
  return NULL;
}

static void attach_and_detach(void) {
  attach();
  usleep(2000);
  detach();
}

static void stand_by(void) { usleep(10000); }

static uint64_t measure(const char *name, void (*act)(void), int cycles) {
  pthread_t threads[BUSY];
  static struct waits waits[BUSY];
  struct waits all = {0};
  memset(waits, 0, sizeof waits);
  stop = false;
  for (int i = 0; i < BUSY; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, allocate, &waits[i]), 0);
  uint64_t begin = now_ns();
  for (int i = 0; i < cycles; i++) act();
  uint64_t end = now_ns();
  stop = true;
  for (int i = 0; i < BUSY; i++) {
    pthread_join(threads[i], NULL);
    all.events += waits[i].events;
    all.blocked_over_1_ms += waits[i].blocked_over_1_ms;
    if (waits[i].longest_ns > all.longest_ns) all.longest_ns = waits[i].longest_ns;
    if (waits[i].longest_blocked_ns > all.longest_blocked_ns) all.longest_blocked_ns = waits[i].longest_blocked_ns;
  }
  printf("%s: %.1f s, %" PRIu64 " events, longest wait %.3f ms, longest of a thread that blocked %.3f ms, %" PRIu64
         " such over 1 ms\n",
         name, (double)(end - begin) / 1e9, all.events, (double)all.longest_ns / 1e6,
         (double)all.longest_blocked_ns / 1e6, all.blocked_over_1_ms);
  return all.blocked_over_1_ms;
}

int main(int argc, char **argv) {
  CHECK(argc == 4);
  const struct sched_param lowest = {.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_RR, &lowest) != 0) {
    printf("not available: SCHED_RR\n");
    return 77;
  }
  open_library(argv[1]);
  pause_us = (unsigned)atoi(argv[3]);
  int cycles = atoi(argv[2]);
  measure("without attaching", stand_by, cycles);
  CHECK_EQUAL(measure("attaching", attach_and_detach, cycles), 0);
  return 0;
}
