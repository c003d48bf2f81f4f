/*
 * Checks C++'s operators after mallometer_attach(): each allocation must count once, whether the operators call
 * malloc or the allocator defines operators of its own.
 *
 *   attach_operators LIBRARY
 */
#include <dlfcn.h>

#include <cstdint>
#include <new>

#include "check.h"

namespace {

void *library;

template <typename Function>
Function *function(const char *name) {
  auto found = reinterpret_cast<Function *>(dlsym(library, name));
  CHECK(found);
  return found;
}

mallometer_counters counters() {
  mallometer_counters s{};
  CHECK_EQUAL(function<decltype(mallometer_thread_snapshot)>("mallometer_thread_snapshot")(&s), 0);
  return s;
}

template <typename Act>
void counts_once(Act act) {
  mallometer_counters before = counters();
  act();
  mallometer_counters after = counters();
  CHECK_EQUAL(mallometer_allocations(&after) - mallometer_allocations(&before), 1);
  CHECK_EQUAL(after.frees - before.frees, 1);
  CHECK_EQUAL(after.allocated_bytes - before.allocated_bytes, after.freed_bytes - before.freed_bytes);
}

struct alignas(64) Aligned {
  char bytes[128];
};

template <typename T>
T *used(T *object) {
  USE(object);
  return object;
}

}  // namespace

int main(int argc, char **argv) {
  CHECK(argc == 2);
  char *before = used(new char[1000]);
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  for (int i = 0; i < 2; i++) {
    CHECK_EQUAL(function<decltype(mallometer_attach)>("mallometer_attach")(), 0);
    counts_once([] { delete used(new long(5)); });
    counts_once([] { delete[] used(new long[5]); });
    counts_once([] { delete used(new Aligned); });
    counts_once([] { delete[] used(new Aligned[3]); });
    counts_once([] { ::operator delete(used(::operator new(100, std::nothrow)), std::nothrow); });
    counts_once([] { ::operator delete (used(::operator new(100)), std::size_t{100}); });
    CHECK_EQUAL(function<decltype(mallometer_detach)>("mallometer_detach")(), 0);
    delete used(new long(5));
  }
  delete[] before;
  return 0;
}
