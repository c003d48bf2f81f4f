/* A program with a malloc of its own, which does not work before main(). The library must not call this malloc
 * earlier. Because all calls go to the program's malloc, the library counts nothing, and states the reason. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static _Alignas(16) char memory[1 << 20];
static size_t used, calls, calls_before_main;
static bool ready;

static void *take(size_t size) {
  calls++;
  if (!ready) calls_before_main++;
  size_t begin = used + 16, end = begin + (size + 15) / 16 * 16;
  if (size > sizeof memory || end > sizeof memory) {
    errno = ENOMEM;
    return NULL;
  }
  used = end;
  memcpy(memory + begin - 16, &size, sizeof size);
  return memory + begin;
}

static bool is_of_ours(const void *object) {
  return (const char *)object >= memory && (const char *)object < memory + sizeof memory;
}

void *malloc(size_t size) { return take(size); }

void *calloc(size_t count, size_t size) { return take(count * size); }

void *realloc(void *object, size_t size) {
  void *moved = take(size);
  size_t old = 0;
  if (object) memcpy(&old, (char *)object - 16, sizeof old);
  return moved && object ? memcpy(moved, object, old < size ? old : size) : moved;
}

void free(void *object) {
  calls++;
  if (!ready) calls_before_main++;
  CHECK(!object || is_of_ours(object));
}

int main(void) {
  size_t before_main = calls_before_main;
  ready = true;
  CHECK_EQUAL(before_main, 0);
  CHECK_EQUAL(self().state, MALLOMETER_STATE_NOT_PRELOADED);
  printf("%s\n", self().reason);

  struct mallometer_counters start = snapshot();
  char *text = strdup("of the program's malloc");
  CHECK(is_of_ours(text));
  text = realloc(text, 1000);
  CHECK(is_of_ours(text) && strcmp(text, "of the program's malloc") == 0);
  free(text);
  void *(*volatile array)(void *, size_t, size_t) = reallocarray;
  CHECK(is_of_ours(array(NULL, 3, 5)));
  CHECK(calls >= 4);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d) + d.frees, 0);
  return 0;
}
