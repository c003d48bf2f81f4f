/* A program that uses every function of malloc's family, and none of mallometer. An object of one function is resized
 * by another and freed by a third. The program must work with any order of preloaded libraries, and without them. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS 500

static void good(unsigned char *object, size_t size, int line) {
  if (object && malloc_usable_size(object) >= size) {
    memset(object, 0x5a, size);
    return;
  }
  fprintf(stderr, "line %d: not so: %zu usable bytes at %p\n", line, size, (void *)object);
  exit(1);
}

#define GOOD(object, size) good(object, size, __LINE__)

static void *allocate(int way, size_t size) {
  void *object = NULL;
  switch (way) {
    case 0:
      return malloc(size);
    case 1:
      return calloc(2, size);
    case 2:
      return memalign(64, size);
    case 3:
      return aligned_alloc(32, (size + 31) / 32 * 32);
    case 4:
      return posix_memalign(&object, 256, size) == 0 ? object : NULL;
    case 5:
      return valloc(size);
    case 6:
      return pvalloc(size);
    case 7:
      return reallocarray(NULL, 3, size);
    default:
      return realloc(NULL, size);
  }
}

static void *work(void *unused) {
  void *objects[OBJECTS];
  for (int i = 0; i < OBJECTS; i++) {
    size_t size = (size_t)(1 + i * 37 % 9000);
    GOOD(objects[i] = allocate(i % 9, size), size);
    if (i % 5 == 0) GOOD(objects[i] = reallocarray(objects[i], 2, size), 2 * size);
    if (i % 7 == 0) GOOD(objects[i] = realloc(objects[i], size / 2 + 1), size / 2 + 1);
  }
  for (int i = 0; i < OBJECTS; i++) free(objects[(i * 7) % OBJECTS]);
  char *text = NULL;
  if (asprintf(&text, "%d", OBJECTS) < 0) exit(1);
  free(text);
  free(realpath("/", NULL));
  return unused;
}

int main(void) {
  work(NULL);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
