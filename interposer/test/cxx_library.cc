/* A native library in C++, for a program in C that opens it. It is built with the shared C++ library, with a static
 * copy of the C++ library, and with a static copy whose symbols are hidden. Many JNI libraries contain a static
 * copy. */
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace {
volatile std::size_t too_much = PTRDIFF_MAX - 4096;
struct alignas(128) Aligned {
  char bytes[128];
};

/* Keeps the compiler from removing an allocation whose object is not used. */
template <typename T>
T *used(T *object) {
  __asm__ volatile("" : : "r"(object) : "memory");
  return object;
}
}  // namespace

/* Makes five allocations and five frees. */
extern "C" void cxx_allocate() {
  delete used(new int(5));
  delete[] used(new char[500]);
  delete used(new Aligned);
  delete used(new (std::nothrow) int(5));
  std::vector<int> numbers(1000, 7);
  used(numbers.data());
}

/* Returns 0 if requests for too much memory throw std::bad_alloc, or return a null pointer with std::nothrow. */
extern "C" int cxx_out_of_memory() {
  int caught = 0;
  try {
    operator delete(used(operator new(too_much)));
  } catch (const std::bad_alloc &) {
    caught++;
  }
  try {
    operator delete (operator new (too_much, std::align_val_t{64}), std::align_val_t{64});
  } catch (const std::bad_alloc &) {
    caught++;
  }
  try {
    std::string text(too_much / 2, 'x');
    used(text.data());
  } catch (const std::bad_alloc &) {
    caught++;
  }
  if (caught != 3) return 1;
  return used(operator new(too_much, std::nothrow)) ||
         used(operator new[](too_much, std::align_val_t{64}, std::nothrow));
}
