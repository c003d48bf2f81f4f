/*
 * Measures the time of mallometer_snapshot() and mallometer_thread_snapshot() in a process of many live threads.
 *
 * Each thread allocates and frees once, so that it owns a block of counters, and waits. The main thread then measures
 * three series of readings. The first reads the process again and again, so that all blocks are in the caches, as in a
 * program that reads before and after a piece of work. The second overwrites the caches before each reading of the
 * process, as in a program that reads every few seconds. The third reads the counters of the main thread.
 *
 * Usage: snapshot THREADS READINGS. Prints nanoseconds, one line `name value value ...` for each kind of reading.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mallometer_optional.h"

#define STACK_BYTES (64 * 1024)
/* The bytes that are overwritten exceed usual second-level caches. On a machine with a larger third level, blocks are
 * read from that level. */
#define EVICTING_BYTES (16 * 1024 * 1024)
/* The number of readings in one sample; a single reading is too short for the clock. */
#define THREAD_READINGS_PER_SAMPLE 200

static pthread_barrier_t all_have_counted;
static pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;

static void exit_with(const char *problem) {
  fprintf(stderr, "snapshot: %s\n", problem);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *count_and_wait(void *unused) {
  void *object = malloc(64);
  __asm__ volatile("" : : "r"(object) : "memory");
  free(object);
  pthread_barrier_wait(&all_have_counted);
  pthread_mutex_lock(&end);
  pthread_mutex_unlock(&end);
  return unused;
}

static void evict_caches(void) {
  static volatile char *memory;
  if (!memory) memory = malloc(EVICTING_BYTES);
  if (!memory) exit_with("out of memory");
  for (size_t i = 0; i < EVICTING_BYTES; i += 64) memory[i]++;
}

static struct mallometer_counters read_process(void) {
  struct mallometer_counters counters = {0};
  if (mallometer_snapshot(&counters) != 0) exit_with("mallometer_snapshot failed");
  return counters;
}

static void print_snapshots(const char *name, int readings, void (*before)(void)) {
  printf("%s", name);
  for (int i = 0; i < readings; i++) {
    if (before) before();
    uint64_t start = now_ns();
    read_process();
    printf(" %llu", (unsigned long long)(now_ns() - start));
  }
  printf("\n");
}

static void print_thread_snapshots(int readings) {
  printf("thread");
  for (int i = 0; i < readings; i++) {
    uint64_t start = now_ns();
    for (int j = 0; j < THREAD_READINGS_PER_SAMPLE; j++) {
      struct mallometer_counters counters = {0};
      if (mallometer_thread_snapshot(&counters) != 0) exit_with("mallometer_thread_snapshot failed");
    }
    printf(" %llu", (unsigned long long)(now_ns() - start) / THREAD_READINGS_PER_SAMPLE);
  }
  printf("\n");
}

static void start_threads(int count) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  pthread_barrier_init(&all_have_counted, NULL, (unsigned)count + 1);
  pthread_mutex_lock(&end);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, count_and_wait, NULL) != 0) exit_with("no more threads");
  }
  pthread_barrier_wait(&all_have_counted);
}

int main(int count, char *arguments[]) {
  int threads = count == 3 ? atoi(arguments[1]) : 0;
  int readings = count == 3 ? atoi(arguments[2]) : 0;
  if (threads <= 0 || readings <= 0) exit_with("usage: snapshot THREADS READINGS");
  if (!mallometer_available()) exit_with("libmallometer is not preloaded");
  start_threads(threads);
  if (read_process().threads < (uint32_t)threads) exit_with("fewer threads counted than started");
  print_snapshots("warm", readings, NULL);
  print_snapshots("cold", readings, evict_caches);
  print_thread_snapshots(readings);
  return 0; /* the threads end with the process */
}
