/*
 * Allocates by malloc, calloc, realloc, posix_memalign and memalign, and maps memory by mmap and mremap. test/probes.py
 * receives the library's probes of these calls.
 *
 * Prints the requested bytes between two snapshots, and the mapped and unmapped bytes. The first argument is the number
 * of rounds. With "slots" as the second argument, the rounds begin when the library places objects in slots (memory
 * pages of their own).
 */
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { THREADS = 2, HEIGHTS = 12, OBJECTS = 400, TIMES = 30 };

static struct mallometer_observation observed(void) {
  struct mallometer_observation o = {0};
  CHECK_EQUAL(mallometer_leaks(&o), 0);
  return o;
}

static NOINLINE void use(void *object, size_t bytes) {
  CHECK(object);
  memset(object, 1, bytes < 64 ? bytes : 64);
}

static NOINLINE void allocate(size_t round) {
  void *kept[OBJECTS];
  for (size_t i = 0; i < OBJECTS; i++) {
    size_t bytes = 1 + (i * 7919 + round * 104729) % (i % 50 == 0 ? 300000 : 4000);
    void *object = NULL;
    switch (i % 6) {
      case 0:
        object = malloc(bytes);
        break;
      case 1:
        object = calloc(1, bytes);
        break;
      case 2:
        CHECK_EQUAL(posix_memalign(&object, 64, bytes + 1), 0);
        break;
      case 3:
        object = realloc(realloc(malloc(bytes / 3 + 1), bytes / 2 + 1), bytes + 1);
        break;
      case 4:
        object = memalign(256, bytes + 1);
        break;
      default:
        object = realloc(malloc(bytes + 1), 20);
    }
    use(object, i % 6 == 5 ? 20 : i % 6 < 2 ? bytes : bytes + 1);
    kept[i] = object;
  }
  for (size_t i = 0; i < OBJECTS; i++) free(kept[i]);
}

/* Calls allocate() at a given height of the stack. The sampler regards each height as a separate call path. */
static NOINLINE void from_height(size_t height, size_t round) {
  volatile char here[64];
  here[0] = (char)height;
  if (height > 0) {
    from_height(height - 1, round);
  } else {
    allocate(round);
  }
  here[1] = here[0];
}

static void *work(void *unused) {
  for (size_t i = 0; i < HEIGHTS * TIMES; i++) from_height(i % HEIGHTS, i);
  return unused;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static void until_there_are_slots(void) {
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SHORTEST_EPOCH, 20), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_EPOCH_OVER_COST, 10), 0);
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) pause_ms(1);
  if (observed().state != MALLOMETER_LEAKS_ON) {
    printf("no slots: %s\n", observed().reason);
    exit(77);
  }
  for (double begin = seconds(); observed().placed < 50;) {
    CHECK(seconds() - begin < 30);
    work(NULL);
  }
}

static uint64_t mappings, mapped, unmapped;

static void *map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  mappings++;
  mapped += bytes;
  return memory;
}

static void unmap(void *memory, size_t bytes) {
  CHECK_EQUAL(munmap(memory, bytes), 0);
  unmapped += bytes;
}

/* Resizes a mapping. The library must announce the old range as unmapped, and then the new range as mapped. If
 * mremap() fails, the library must announce the old range as mapped again. */
static void *grow(void *memory, size_t before, size_t bytes) {
  void *moved = mremap(memory, before, bytes, MREMAP_MAYMOVE);
  mappings++;
  unmapped += before;
  mapped += moved == MAP_FAILED ? before : bytes;
  return moved;
}

static void map_and_unmap(void) {
  const size_t page = 4096;
  char *memory = map(5 * page);
  unmap(memory + 2 * page, page);
  unmap(memory, 2 * page);
  unmap(memory + 3 * page, 2 * page);
  CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  memory = grow(map(page), page, 9 * page);
  CHECK(memory != MAP_FAILED);
  CHECK(grow(memory, 9 * page, SIZE_MAX / 2 / page * page) == MAP_FAILED);
  unmap(memory, 9 * page);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  unsigned long rounds = strtoul(argv[1], NULL, 10);
  bool slots = argc > 2 && strcmp(argv[2], "slots") == 0;
  if (slots) until_there_are_slots();
  uint64_t placed = slots ? observed().placed : 0;
  struct mallometer_counters start = snapshot(), end = start;
  for (unsigned long round = 0; round < rounds; round++) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    map_and_unmap();
    end = snapshot();
  }
  if (slots) CHECK(observed().placed > placed);
  struct mallometer_report r = self();
  printf("%" PRIu32 " live samples\n", r.live_samples);
  printf("requested %" PRIu64 "\n", end.requested_bytes - start.requested_bytes);
  printf("mappings %" PRIu64 ", mapped %" PRIu64 ", unmapped %" PRIu64 "\n", mappings, mapped, unmapped);
  return 0;
}
