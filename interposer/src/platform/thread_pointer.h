/*
 * A pointer for each thread, for use inside of malloc: reading and writing the pointer does not enter the loader and
 * does not allocate. On Linux the pointer is a thread-local variable of the compiler. On Darwin the first access of a
 * thread to such a variable allocates, so a key is used there: the values of keys lie in the thread's control block.
 *
 *   DECLARE_THREAD_POINTER(type, name); DEFINE_THREAD_POINTER(type, name, initial)
 *   THREAD_POINTER_START(name)            once, before another thread uses it; until then each thread has `initial`
 *   THREAD_POINTER(type, name)            read anew at each use
 *   THREAD_POINTER_SET(name, value)
 *   bool THREAD_POINTER_REPLACE(type, name, expected, value)
 *       Returns false if the pointer is not `expected`: a signal handler of the thread may have changed it.
 */
#ifndef MALLOMETER_PLATFORM_THREAD_POINTER_H
#define MALLOMETER_PLATFORM_THREAD_POINTER_H

#include <stdbool.h>

#include "platform/arch.h"
#include "platform/visibility.h"

#if !defined(__APPLE__) && !defined(THREAD_POINTERS_BY_KEY) /* Tests build the variant with keys. */

/* Libraries that are loaded by dlopen share 64 bytes of TLS. A pointer takes 8 of them. */
#define DECLARE_THREAD_POINTER(type, name) extern HIDDEN __thread type *name __attribute__((tls_model("initial-exec")))
/* This TLS model lets the file that defines the variable access it without a call of the loader (__tls_get_addr). */
#define DEFINE_THREAD_POINTER(type, name, initial) \
  __thread type *name __attribute__((tls_model("initial-exec"))) = (initial)
#define THREAD_POINTER_START(name) ((void)0)
#define THREAD_POINTER(type, name) THREAD_LOCAL_VALUE(name)
#define THREAD_POINTER_SET(name, value) ((void)((name) = (value)))
#define THREAD_POINTER_REPLACE(type, name, expected, value) \
  __atomic_compare_exchange_n(&(name), &(type *){expected}, (value), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

#else

#include <pthread.h>

struct thread_pointer {
  void *initial;
  pthread_key_t key;
  bool exists; /* False until `key` exists: key 0 would lead to the thread's control block. */
  void (*stays)(void *value);
};

static inline void *thread_pointer_get(const struct thread_pointer *pointer) {
  void *value = __atomic_load_n(&pointer->exists, __ATOMIC_ACQUIRE) ? pthread_getspecific(pointer->key) : NULL;
  return value ? value : pointer->initial;
}

static inline void thread_pointer_set(const struct thread_pointer *pointer, void *value) {
  if (__atomic_load_n(&pointer->exists, __ATOMIC_ACQUIRE)) (void)pthread_setspecific(pointer->key, value);
}

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
/* Defines the pointer, and the destructor of its key. When a thread ends, the value is cleared before each of four
 * rounds of destructors. The destructor sets the value again, because other destructors may allocate. */
#define DEFINE_THREAD_POINTER(type, name, first)                                \
  static void name##_stays(void *value) { thread_pointer_set(&(name), value); } \
  struct thread_pointer name = {.initial = (first), .stays = name##_stays}
#define THREAD_POINTER_START(name) thread_pointer_start(&(name))
#define THREAD_POINTER(type, name) ((type *)thread_pointer_get(&(name)))
#define THREAD_POINTER_SET(name, value) thread_pointer_set(&(name), (value))
#define THREAD_POINTER_REPLACE(type, name, expected, value) thread_pointer_replace(&(name), (expected), (value))

#endif

#endif
