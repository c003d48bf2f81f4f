/* Changes words that several threads and signal handlers use without a lock. */
#ifndef MALLOMETER_PLATFORM_SHARED_WORDS_H
#define MALLOMETER_PLATFORM_SHARED_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Raises `highest` to `value`. Returns false if it was at least `value` already. */
static inline bool raise_to(int64_t *highest, int64_t value) {
  int64_t before = __atomic_load_n(highest, __ATOMIC_RELAXED);
  do {
    if (before >= value) return false;
  } while (!__atomic_compare_exchange_n(highest, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return true;
}

/* Reserves `count` consecutive numbers and returns the first. Returns `limit` if too few numbers are left below
 * `limit`. */
static inline uint32_t reserve_numbers(uint32_t *taken, uint32_t count, uint32_t limit) {
  uint32_t first = __atomic_load_n(taken, __ATOMIC_RELAXED);
  do {
    if (count > limit || first > limit - count) return limit;
  } while (!__atomic_compare_exchange_n(taken, &first, first + count, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return first;
}

/* Sets the lowest bit that is 0 among the first `most` bits, and returns that bit as a mask; returns 0 if all are
 * set. `most` must be less than 32. */
static inline uint32_t take_bit(uint32_t *taken, uint32_t most) {
  uint32_t before = __atomic_load_n(taken, __ATOMIC_RELAXED), bit;
  do {
    bit = ~before & (before + 1) & ((1u << most) - 1);
  } while (bit != 0 &&
           !__atomic_compare_exchange_n(taken, &before, before | bit, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
  return bit;
}

/* ---- Lists of free records ------------------------------------------------------------------------------ */

/*
 * The head of a stack of records. Its lower half is 1 + the index of the first record, or 0. Its upper half changes
 * with every operation, so that equal heads mean an unchanged list (no ABA problem). Both halves are in one word, so
 * the head is consistent in a forked child, too.
 */
typedef uint64_t free_list;

static inline uint64_t head_after(uint64_t head, uint32_t first) { return ((head >> 32) + 1) << 32 | first; }

/* Pushes the record with this index. `next` is the place of the record's link. The head is stored with release
 * order, so that a thread that pops the record sees the link (test/litmus/free-list). */
static inline void free_list_push(free_list *list, uint32_t index, uint32_t *next) {
  uint64_t head = __atomic_load_n(list, __ATOMIC_RELAXED);
  do __atomic_store_n(next, (uint32_t)head, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(list, &head, head_after(head, index + 1), true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED));
}

/* Pops a record and returns its index; UINT32_MAX if the list is empty. The load of the head acquires the record's
 * link. If another thread changes the head after that load, the link may be wrong, but the exchange then fails. */
static inline uint32_t free_list_pop(free_list *list, uint32_t *(*next_of)(uint32_t index)) {
  uint64_t head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
  while ((uint32_t)head) {
    uint32_t first = (uint32_t)head - 1, next = __atomic_load_n(next_of(first), __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(list, &head, head_after(head, next), true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
      return first;
  }
  return UINT32_MAX;
}

#endif
