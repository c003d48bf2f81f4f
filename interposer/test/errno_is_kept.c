/* Checks that a successful call does not change errno, on the library's fast path and on its slow ones. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>

#include "check.h"

#define KEEPS_ERRNO(statement)                                                \
  do {                                                                        \
    errno = 4711;                                                             \
    statement;                                                                \
    if (errno != 4711) {                                                      \
      fprintf(stderr, "errno is %d, expected 4711: " #statement "\n", errno); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static void every_function(size_t size) {
  void *object = NULL;
  KEEPS_ERRNO(object = malloc(size));
  KEEPS_ERRNO((void)malloc_usable_size(object));
  KEEPS_ERRNO(object = realloc(object, size + 1));
  KEEPS_ERRNO(object = realloc(object, 3 * size));
  KEEPS_ERRNO(object = reallocarray(object, 2, size));
  KEEPS_ERRNO(free(object));
  KEEPS_ERRNO(object = calloc(3, size));
  KEEPS_ERRNO(free(object));
  KEEPS_ERRNO(object = memalign(256, size));
  KEEPS_ERRNO(object = realloc(object, size + 1));
  KEEPS_ERRNO(free(object));
  KEEPS_ERRNO(object = aligned_alloc(4096, size));
  KEEPS_ERRNO(free(object));
  KEEPS_ERRNO(CHECK_EQUAL(posix_memalign(&object, 64, size), 0));
  KEEPS_ERRNO(free(object));
  KEEPS_ERRNO(object = valloc(size));
  KEEPS_ERRNO(free(object));
  KEEPS_ERRNO(object = pvalloc(size));
  KEEPS_ERRNO(free(object));
}

static void every_size(void) {
  for (size_t size = 1; size < (size_t)1 << 20; size = 3 * size + 1) every_function(size);
  for (int i = 0; i < 2000; i++) {
    void *object;
    KEEPS_ERRNO(object = malloc(1000)); /* updates the live bytes in some of the rounds */
    KEEPS_ERRNO(free(object));
  }
}

static void *first_event_is_malloc(void *unused) {
  void *object;
  KEEPS_ERRNO(object = malloc(10));
  KEEPS_ERRNO(free(object));
  every_size();
  return unused;
}

static void *first_event_is_free(void *object) {
  KEEPS_ERRNO(free(object));
  return NULL;
}

static void in_thread(void *(*body)(void *), void *argument) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, body, argument), 0);
  pthread_join(thread, NULL);
}

int main(void) {
  every_size();
  every_function((size_t)70 << 20);
  in_thread(first_event_is_malloc, NULL);
  in_thread(first_event_is_free, malloc(10));
  in_thread(first_event_is_free, malloc((size_t)1 << 20));

  struct mallometer_counters s = {0};
  struct mallometer_report r = {0};
  KEEPS_ERRNO(mallometer_snapshot(&s));
  KEEPS_ERRNO(mallometer_thread_snapshot(&s));
  KEEPS_ERRNO(mallometer_self(&r));
  KEEPS_ERRNO(mallometer_disable());
  every_size();
  KEEPS_ERRNO(mallometer_enable());
  every_size();
  return 0;
}
