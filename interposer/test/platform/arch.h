/* Replaces src/platform/arch.h in tests of the logic. local_add() and similar functions are written in C here, with
 * a point of interruption (given.h) between the load and the store. The test sets the caller's frame pointer. */
#ifndef MALLOMETER_PLATFORM_ARCH_H
#define MALLOMETER_PLATFORM_ARCH_H

#define local_add uninterrupted_add
#define local_add_exhausts uninterrupted_add_exhausts
#define local_sub_exhausts uninterrupted_sub_exhausts
#define registers_of_caller registers_without_frame_pointer
#include "platform/arch_portable.h"
#undef local_add
#undef local_add_exhausts
#undef local_sub_exhausts
#undef registers_of_caller

extern uintptr_t given_frame_pointer;

void point_of_interruption(void);

static inline void local_add(uint64_t *word, uint64_t amount) {
  uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
  point_of_interruption();
  __atomic_store_n(word, before + amount, __ATOMIC_RELEASE);
}

static inline bool local_add_exhausts(int64_t *word, int64_t amount) {
  int64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
  point_of_interruption();
  __atomic_store_n(word, before + amount, __ATOMIC_RELAXED);
  return before + amount <= 0;
}

static inline bool local_sub_exhausts(int64_t *word, int64_t amount) { return local_add_exhausts(word, -amount); }

static inline struct registers registers_of_caller(const void *caller, const void *stack) {
  return (struct registers){(uintptr_t)caller, (uintptr_t)stack, given_frame_pointer};
}

#endif
