/*
 * A pointer that each thread has its own of, for use inside of malloc: reading and writing it enters no loader and
 * allocates nothing. Where the compiler's thread-local variables do that it is one; Darwin's allocate when a thread
 * first touches them, and keys of threads do not, for their values lie in the thread's own description.
 *
 *   DECLARE_THREAD_POINTER(type, name); DEFINE_THREAD_POINTER(type, name, initial)
 *   THREAD_POINTER_START(name)            once, before another thread uses it; until then each thread has `initial`
 *   THREAD_POINTER(type, name)            read afresh wherever this stands
 *   THREAD_POINTER_SET(name, value)
 *   bool THREAD_POINTER_REPLACE(type, name, expected, value)
 *       False if it is no longer `expected`, which a signal handler of the thread may have changed.
 */
#ifndef MALLOMETER_PLATFORM_THREAD_POINTER_H
#define MALLOMETER_PLATFORM_THREAD_POINTER_H

#include <stdbool.h>

#include "platform/arch.h"
#include "platform/visibility.h"

#if !defined(__APPLE__) && !defined(THREAD_POINTERS_BY_KEY) /* tests build the logic with these */

/* 8 of the 64 bytes of TLS that a late dlopen can count on. */
#define DECLARE_THREAD_POINTER(type, name) extern HIDDEN __thread type *name __attribute__((tls_model("initial-exec")))
/* The model is repeated, or the definition's own file calls the loader for the variable. */
#define DEFINE_THREAD_POINTER(type, name, initial) \
  __thread type *name __attribute__((tls_model("initial-exec"))) = (initial)
#define THREAD_POINTER_START(name) ((void)0)
#define THREAD_POINTER(type, name) OWN_VALUE(name)
#define THREAD_POINTER_SET(name, value) ((void)((name) = (value)))
#define THREAD_POINTER_REPLACE(type, name, expected, value) \
  __atomic_compare_exchange_n(&(name), &(type *){expected}, (value), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

#else

#include <pthread.h>

struct thread_pointer {
  void *initial;
  pthread_key_t key;
  bool exists; /* the key: number 0 leads to the thread's description */
  void (*stays)(void *value);
};

static inline void *thread_pointer_get(const struct thread_pointer *pointer) {
  void *value = __atomic_load_n(&pointer->exists, __ATOMIC_ACQUIRE) ? pthread_getspecific(pointer->key) : NULL;
  return value ? value : pointer->initial;
}

static inline void thread_pointer_set(const struct thread_pointer *pointer, void *value) {
  if (__atomic_load_n(&pointer->exists, __ATOMIC_ACQUIRE)) (void)pthread_setspecific(pointer->key, value);
}

/* The first value that is set is kept, but for one that a signal handler sets between these two calls. */
static inline bool thread_pointer_replace(const struct thread_pointer *pointer, void *expected, void *value) {
  if (thread_pointer_get(pointer) != expected) return false;
  thread_pointer_set(pointer, value);
  return thread_pointer_get(pointer) == value;
}

static inline void thread_pointer_start(struct thread_pointer *pointer) {
  if (pthread_key_create(&pointer->key, pointer->stays) == 0)
    __atomic_store_n(&pointer->exists, true, __ATOMIC_RELEASE);
}

#define DECLARE_THREAD_POINTER(type, name) extern HIDDEN struct thread_pointer name
/* A thread that ends clears each value before the key's destructor, in each of four rounds: this one puts it back, for
 * destructors of others that allocate. */
#define DEFINE_THREAD_POINTER(type, name, first)                                \
  static void name##_stays(void *value) { thread_pointer_set(&(name), value); } \
  struct thread_pointer name = {.initial = (first), .stays = name##_stays}
#define THREAD_POINTER_START(name) thread_pointer_start(&(name))
#define THREAD_POINTER(type, name) ((type *)thread_pointer_get(&(name)))
#define THREAD_POINTER_SET(name, value) thread_pointer_set(&(name), (value))
#define THREAD_POINTER_REPLACE(type, name, expected, value) thread_pointer_replace(&(name), (expected), (value))

#endif

#endif
