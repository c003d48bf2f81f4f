/* A library that is preloaded with mallometer and starts before it. It creates 40 thread keys; the C library stores
 * the values of only 32 without allocating. The destructors allocate and free. */
#include <pthread.h>
#include <stdlib.h>

#include "mallometer_optional.h"

enum { KEYS = 40 };
static pthread_key_t keys[KEYS];
static __thread int visits;
/* late_key.c reads these variables. */
int destructor_events;
int events_before_keys = -1;
void use_all_keys(void);

static void destructor(void *value) {
  pthread_key_t *key = value;
  free(realloc(malloc(50), 5000));
  __atomic_fetch_add(&destructor_events, 2, __ATOMIC_RELAXED);
  if (++visits < 2 * KEYS) pthread_setspecific(*key, value);
}

__attribute__((constructor)) static void take_keys(void) {
  struct mallometer_counters s = {0};
  if (mallometer_available() && mallometer_snapshot(&s) == 0) {
    events_before_keys = (int)mallometer_allocations(&s);
  }
  for (int i = 0; i < KEYS; i++) {
    if (pthread_key_create(&keys[i], destructor) != 0) abort();
  }
}

void use_all_keys(void) {
  for (int i = 0; i < KEYS; i++) pthread_setspecific(keys[i], &keys[i]);
}
