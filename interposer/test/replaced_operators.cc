/*
 * Replaces some C++ operators new and delete by operators of a memory pool. Other forms must use the pool, too, if the
 * C++ standard makes them call a replaced operator. Forms that must not throw must return null when the pool throws.
 *
 * mallometer must count each call of an operator that is not replaced as one allocation or one free. The program also
 * runs without mallometer.
 */
#include <algorithm>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "check.h"
#include "pool.h"

namespace {

constexpr bool kObjects = REPLACED & 1, kArrays = REPLACED & 3, kAligned = REPLACED & 4;
constexpr std::align_val_t kAlignment{512};
constexpr std::size_t kSize = 1024;

bool preloaded() { return mallometer_snapshot != nullptr; }

struct mallometer_counters counters() {
  return preloaded() ? snapshot() : mallometer_counters{};
}

#define PAIR(of_pool, allocate, release_it)                                                                      \
  do {                                                                                                           \
    std::size_t taken = pool::taken, released = pool::released;                                                  \
    struct mallometer_counters start = counters();                                                               \
    void *object = allocate;                                                                                     \
    CHECK(object);                                                                                               \
    memset(object, 1, kSize);                                                                                    \
    bool is_of_pool = pool::contains(object);                                                                    \
    release_it;                                                                                                  \
    struct mallometer_counters end = counters();                                                                 \
    if (is_of_pool != (of_pool) || pool::taken - taken != (of_pool) || pool::released - released != (of_pool)) { \
      fprintf(stderr, "%s %s: %s the pool's, expected otherwise\n", #allocate, #release_it,                      \
              is_of_pool ? "is" : "is not");                                                                     \
      exit(1);                                                                                                   \
    }                                                                                                            \
    if (!preloaded()) break;                                                                                     \
    struct mallometer_counters d = difference(start, end);                                                       \
    CHECK_EQUAL(mallometer_allocations(&d), !(of_pool));                                                         \
    CHECK_EQUAL(d.frees, !(of_pool));                                                                            \
    CHECK_EQUAL(mallometer_live_bytes(&d), 0);                                                                   \
  } while (0)

void every_form() {
#define OBJECT(allocate)                                      \
  PAIR(kObjects, allocate, operator delete(object));          \
  PAIR(kObjects, allocate, (operator delete)(object, kSize)); \
  PAIR(kObjects, allocate, operator delete(object, std::nothrow))
  OBJECT(operator new(kSize));
  OBJECT(operator new(kSize, std::nothrow));
#define ARRAY(allocate)                                        \
  PAIR(kArrays, allocate, operator delete[](object));          \
  PAIR(kArrays, allocate, (operator delete[])(object, kSize)); \
  PAIR(kArrays, allocate, operator delete[](object, std::nothrow))
  ARRAY(operator new[](kSize));
  ARRAY(operator new[](kSize, std::nothrow));
#define ALIGNED(allocate)                                                 \
  PAIR(kAligned, allocate, operator delete(object, kAlignment));          \
  PAIR(kAligned, allocate, (operator delete)(object, kSize, kAlignment)); \
  PAIR(kAligned, allocate, operator delete(object, kAlignment, std::nothrow))
  ALIGNED(operator new(kSize, kAlignment));
  ALIGNED(operator new(kSize, kAlignment, std::nothrow));
#define ALIGNED_ARRAY(allocate)                                             \
  PAIR(kAligned, allocate, operator delete[](object, kAlignment));          \
  PAIR(kAligned, allocate, (operator delete[])(object, kSize, kAlignment)); \
  PAIR(kAligned, allocate, operator delete[](object, kAlignment, std::nothrow))
  ALIGNED_ARRAY(operator new[](kSize, kAlignment));
  ALIGNED_ARRAY(operator new[](kSize, kAlignment, std::nothrow));
}

template <typename Allocate>
void throws(Allocate allocate) {
  bool thrown = false;
  try {
    USE(allocate(pool::kRefused));
  } catch (const std::bad_alloc &) {
    thrown = true;
  }
  CHECK(thrown);
}

template <typename Allocate>
void is_null(Allocate allocate) {
  CHECK(!allocate(pool::kRefused));
  CHECK(!allocate(pool::kThrowsNumber));
}

void pool_is_empty() {
  if (kObjects) throws([](std::size_t size) { return operator new(size); });
  if (kArrays) throws([](std::size_t size) { return operator new[](size); });
  if (kAligned) throws([](std::size_t size) { return operator new(size, kAlignment); });
  if (kAligned) throws([](std::size_t size) { return operator new[](size, kAlignment); });
  if (kObjects) is_null([](std::size_t size) { return operator new(size, std::nothrow); });
  if (kArrays) is_null([](std::size_t size) { return operator new[](size, std::nothrow); });
  if (kAligned) is_null([](std::size_t size) { return operator new(size, kAlignment, std::nothrow); });
  if (kAligned) is_null([](std::size_t size) { return operator new[](size, kAlignment, std::nothrow); });
}

/* Keeps the compiler from removing allocations whose objects are not used. */
template <typename T>
T *used(T *object) {
  USE(object);
  return object;
}

struct alignas(512) Aligned {
  char bytes[512];
};

/* The C++ library itself does some of the allocations of containers. */
void containers() {
  std::vector<std::string> words;
  std::list<int> numbers;
  for (int i = 0; i < 1000; i++) {
    words.push_back(std::to_string(i * 7919 % 1000) + " is longer than what fits into the string itself");
    numbers.push_back(i);
  }
  std::stable_sort(words.begin(), words.end());
  CHECK(std::is_sorted(words.begin(), words.end()));
  delete used(new Aligned);
  delete[] used(new Aligned[3]);
  delete[] used(new std::string[10]);
}

}  // namespace

int main() {
  if (preloaded()) CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  /* the pool may already be in use if the preloaded allocator is written in C++ */
  std::size_t of_others = pool::taken - pool::released;
  every_form();
  pool_is_empty();
  containers();
  CHECK_EQUAL(pool::taken - pool::released, of_others);
  return 0;
}
