/* A library that replaces operator new and delete by those of a pool, but not new[] and delete[], which its
 * constructor early() calls. It is built twice: with its calls bound to its own operators at link time, and without. */
#define REPLACED 1
#include <algorithm>
#include <string>
#include <vector>

#include "pool.h"

namespace {

struct Large {
  long number;
  char bytes[400];
  bool operator<(const Large &other) const { return number < other.number; }
};

/* Keeps the compiler from removing an allocation whose object is not used. */
template <typename T>
T *used(T *object) {
  __asm__ volatile("" : : "r"(object) : "memory");
  return object;
}

__attribute__((constructor)) void early() { delete[] used(new char[100]); }

}  // namespace

extern "C" {

bool library_pool_contains(const void *object) { return pool::contains(object); }

std::size_t library_pool_left() { return pool::taken - pool::released; }

int *library_new() { return new int(5); }

void library_delete(int *object) { delete object; }

void library_pairs() {
  operator delete(used(operator new(100)));
  delete[] used(new char[100]);
  delete[] used(new (std::nothrow) char[100]);
}

/* Frees objects by a form of delete that does not match their form of new, and objects that the C++ library
 * allocates. */
void library_mixes() {
  delete used(new int);
  delete used(new (std::nothrow) int);
  std::vector<Large> sorted(100);
  for (long i = 0; i < 100; i++) sorted[static_cast<std::size_t>(i)].number = i * 37 % 100;
  std::stable_sort(sorted.begin(), sorted.end());
  std::vector<std::string> words;
  for (int i = 0; i < 100; i++) words.push_back(std::to_string(i) + " is longer than what fits into the string itself");
}
}
