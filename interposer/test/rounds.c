/*
 * A helper library that test/probes.py preloads together with mallometer into an ordinary program. Its thread waits,
 * takes snapshots at regular intervals, prints the number of live samples, and ends the process. Environment
 * variables set the times (in ms) and the number of intervals.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static long number(const char *name) {
  const char *value = getenv(name);
  CHECK(value);
  return strtol(value, NULL, 10);
}

static void *take_rounds(void *unused) {
  (void)unused;
  pause_ms(number("ROUNDS_AFTER_MS"));
  for (long round = number("ROUNDS"); round >= 0; round--) {
    snapshot();
    pause_ms(number("ROUND_MS"));
  }
  printf("%" PRIu32 " live samples\n", self().live_samples);
  fflush(stdout);
  _exit(0);
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  if (getenv("ROUNDS")) CHECK_EQUAL(pthread_create(&thread, NULL, take_rounds, NULL), 0);
}
