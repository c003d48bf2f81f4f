/*
 * Operators new and delete that a test program defines in place of the C++ library's. They use a pool; delete aborts
 * if an object is not from the pool. REPLACED is a sum: 1 defines new and delete, 2 new[] and delete[], 4 aligned new
 * and delete.
 */
#ifndef MALLOMETER_TEST_POOL_H
#define MALLOMETER_TEST_POOL_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace pool {

alignas(4096) char memory[8 << 20];
std::size_t used, taken, released;

/* A request of kRefused bytes throws std::bad_alloc. A request of kThrowsNumber bytes throws the number 5. */
constexpr std::size_t kRefused = 77777, kThrowsNumber = 77778;

inline bool contains(const void *object) {
  return reinterpret_cast<std::uintptr_t>(object) - reinterpret_cast<std::uintptr_t>(memory) < sizeof memory;
}

inline void *take(std::size_t size, std::size_t alignment) {
  if (size == kThrowsNumber) throw 5;
  std::size_t begin = (used + alignment - 1) / alignment * alignment;
  if (size == kRefused || begin + size > sizeof memory) throw std::bad_alloc();
  used = begin + size;
  taken++;
  return memory + begin;
}

inline void release(void *object) {
  if (!object) return;
  if (!contains(object)) {
    fprintf(stderr, "not so: %p is from the pool\n", object);
    abort();
  }
  released++;
}

}  // namespace pool

#if REPLACED & 1
void *operator new(std::size_t size) { return pool::take(size, 16); }
void operator delete(void *object) noexcept { pool::release(object); }
#endif
#if REPLACED & 2
void *operator new[](std::size_t size) { return pool::take(size, 16); }
void operator delete[](void *object) noexcept { pool::release(object); }
#endif
#if REPLACED & 4
void *operator new(std::size_t size, std::align_val_t alignment) {
  return pool::take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void *object, std::align_val_t alignment) noexcept {
  if (static_cast<std::size_t>(alignment) != 512) {
    fprintf(stderr, "not so: the alignment is %zu\n", static_cast<std::size_t>(alignment));
    abort();
  }
  pool::release(object);
}
#endif

#endif
