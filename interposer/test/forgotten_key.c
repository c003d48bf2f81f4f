/*
 * Uses thread keys (pthread_key_t) that the program has not created. pthread_getspecific() then returns NULL, and
 * pthread_setspecific() fails. This does not hold for the key that mallometer has created: the program can store a
 * value there, and mallometer must not mistake it for its own.
 */
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static pthread_key_t forgotten;
static int set;

static void *use_forgotten(void *unused) {
  char object[64];
  free(malloc(10)); /* makes the library set the value of its own key */
  CHECK(!pthread_getspecific(forgotten));
  CHECK_EQUAL(pthread_setspecific(forgotten, object), EINVAL);
  return unused;
}

static void *use_every_key(void *unused) {
  static uint64_t object[64];
  for (size_t i = 0; i < 64; i++) object[i] = 0xfefefefefefefefe;
  free(malloc(10));
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) set += pthread_setspecific(key, object) == 0;
  return unused;
}

static void run(void *(*body)(void *)) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

int main(void) {
  run(use_forgotten);
  bool loader_has_one = strverscmp(gnu_get_libc_version(), "2.34") < 0;
  for (int i = 0; i < 3 && !loader_has_one; i++) {
    run(use_every_key);
    /* pthread_setspecific() succeeds once in each thread: for mallometer's key, the only key that exists */
    CHECK_EQUAL(set, i + 1);
    CHECK_EQUAL(snapshot().threads, 1);
  }
  pthread_key_t first;
  CHECK_EQUAL(pthread_key_create(&first, NULL), 0);
  CHECK_EQUAL(first, 0);
  return 0;
}
