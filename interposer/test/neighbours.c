/*
 * What lies beside sampled objects: the free memory that each separates, in whole and by pages; before and after a
 * trim, while objects come and go, and where nothing can be known. Every allocation is a sample.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))
enum { PAIRS = 400, GAP = 20000, PIN = 64, MOST = 65536 };

static struct mallometer_neighbour rows[MOST];
static void *gaps[PAIRS], *pins[PAIRS];

static NOINLINE void *pin(void) {
  void *object = malloc(PIN);
  USE(object);
  return object;
}

static int read_rows(void) {
  int count = mallometer_neighbours(rows, sizeof *rows, MOST);
  CHECK(count >= 0);
  return count;
}

static bool is_of_pin(uint32_t site) {
  uint64_t innermost;
  return mallometer_site_stack(site, &innermost, 1) == 1 && innermost - (uint64_t)(uintptr_t)pin < 60;
}

static struct mallometer_neighbour sum_of_pins(int *pinned) {
  struct mallometer_neighbour sum = {0};
  int count = read_rows();
  *pinned = 0;
  for (int i = 0; i < count; i++) {
    if (!is_of_pin(rows[i].site)) continue;
    CHECK(rows[i].flags & MALLOMETER_NEIGHBOURS_KNOWN);
    CHECK(rows[i].probability > 0.999);
    sum.before_bytes += rows[i].before_bytes;
    sum.before_resident_bytes += rows[i].before_resident_bytes;
    sum.before_returnable_bytes += rows[i].before_returnable_bytes;
    *pinned += 1;
  }
  return sum;
}

static void *churn(void *stop) {
  unsigned random = 1;
  void *held[64] = {NULL};
  while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
    random = random * 1103515245 + 12345;
    void **one = &held[random >> 8 & 63];
    free(*one);
    *one = malloc(random >> 16 & 8191);
  }
  for (int i = 0; i < 64; i++) free(held[i]);
  return NULL;
}

/* What is told while others change it is at most that nothing is known. */
static void changes_meanwhile(void) {
  int stop = 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, churn, &stop), 0);
  for (int i = 0; i < 50; i++) {
    int count = read_rows();
    for (int j = 0; j < count; j++) {
      CHECK(rows[j].before_resident_bytes <= rows[j].before_bytes &&
            rows[j].after_resident_bytes <= rows[j].after_bytes);
      CHECK(rows[j].before_returnable_bytes <= rows[j].before_resident_bytes);
    }
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "unknown") == 0) {
    CHECK_EQUAL(mallometer_neighbours(rows, sizeof *rows, MOST), -ENOTSUP);
    return 0;
  }
  int pinned;
  CHECK_EQUAL(mallometer_neighbours(NULL, sizeof *rows, MOST), -EINVAL);
  CHECK_EQUAL(mallometer_neighbours(rows, sizeof *rows - 8, MOST), -EINVAL);
  for (int i = 0; i < PAIRS; i++) {
    memset(gaps[i] = malloc(GAP), 1, GAP);
    pins[i] = pin();
  }
  struct mallometer_neighbour sum = sum_of_pins(&pinned);
  CHECK_EQUAL(pinned, PAIRS);
  CHECK_EQUAL(sum.before_bytes, 0);
  uint64_t freed = 0;
  for (int i = 0; i < PAIRS; i++) freed += malloc_usable_size(gaps[i]) + 8;
  for (int i = 0; i < PAIRS; i++) free(gaps[i]);
  sum = sum_of_pins(&pinned);
  printf("freed %lu before %lu resident %lu returnable %lu\n", freed, sum.before_bytes, sum.before_resident_bytes,
         sum.before_returnable_bytes);
  /* What was free before the first is in its own. */
  CHECK(sum.before_bytes >= freed && sum.before_bytes < freed + GAP * 10);
  CHECK(sum.before_resident_bytes > sum.before_bytes / 10 * 9);
  CHECK(sum.before_returnable_bytes > freed / 5 * 3 && sum.before_returnable_bytes < freed / 10 * 9);
  CHECK_EQUAL(mallometer_trim(), 0);
  sum = sum_of_pins(&pinned);
  printf("trimmed: before %lu resident %lu returnable %lu\n", sum.before_bytes, sum.before_resident_bytes,
         sum.before_returnable_bytes);
  CHECK_EQUAL(sum.before_returnable_bytes, 0);
  CHECK(sum.before_bytes > freed / 10 * 9 && sum.before_resident_bytes < freed / 5 * 2);
  changes_meanwhile();
  for (int i = 0; i < PAIRS; i++) free(pins[i]);
  sum_of_pins(&pinned);
  CHECK_EQUAL(pinned, 0);
  return 0;
}
