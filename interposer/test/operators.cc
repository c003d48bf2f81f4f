/*
 * Every form of operator new must count as one allocation and every form of operator delete as one free, even if the
 * allocator defines operators of its own. When memory is refused, operator new must call the new handler and throw
 * std::bad_alloc, as the C++ standard requires. The nothrow forms must return null.
 */
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "check.h"

namespace {

struct alignas(128) Aligned {
  char bytes[256];
};

struct Plain {
  char bytes[100];
};

struct mallometer_counters before;

/* `heard` is the number of events that the monitor received. `expected` is the number that it must receive for an
 * allocation and a free. */
volatile unsigned heard;
unsigned expected;

void heard_allocation(void *, void *, size_t, size_t) { heard = heard + 1; }

void heard_free(void *, void *, size_t) { heard = heard + 1; }

void start() {
  before = snapshot();
  heard = 0;
}

void one_event(const char *what, uint64_t requested) {
  struct mallometer_counters d = difference(before, snapshot());
  if (mallometer_allocations(&d) != 1 || d.frees != 1 || d.requested_bytes != requested ||
      mallometer_live_bytes(&d) != 0 || heard != expected) {
    fprintf(stderr,
            "%s: %" PRIu64 " allocations of %" PRIu64 " bytes and %" PRIu64 " frees, expected 1 of %" PRIu64 " and 1\n",
            what, mallometer_allocations(&d), d.requested_bytes, d.frees, requested);
    exit(1);
  }
}

#define ONE_EVENT(requested, allocate, release)   \
  do {                                            \
    start();                                      \
    void *object = allocate;                      \
    CHECK(object);                                \
    memset(object, 1, requested);                 \
    release;                                      \
    one_event(#allocate " " #release, requested); \
  } while (0)

constexpr std::align_val_t kAlignment{512};

void every_form() {
  ONE_EVENT(100, operator new(100), operator delete(object));
  ONE_EVENT(100, operator new(100), operator delete (object, std::size_t{100}));
  ONE_EVENT(100, operator new(100, std::nothrow), operator delete(object, std::nothrow));
  ONE_EVENT(100, operator new[](100), operator delete[](object));
  ONE_EVENT(100, operator new[](100), operator delete[](object, std::size_t{100}));
  ONE_EVENT(100, operator new[](100, std::nothrow), operator delete[](object, std::nothrow));
  ONE_EVENT(1024, operator new(1024, kAlignment), operator delete(object, kAlignment));
  ONE_EVENT(1024, operator new(1024, kAlignment), operator delete (object, std::size_t{1024}, kAlignment));
  ONE_EVENT(1024, operator new(1024, kAlignment, std::nothrow), operator delete(object, kAlignment, std::nothrow));
  ONE_EVENT(1024, operator new[](1024, kAlignment), operator delete[](object, kAlignment));
  ONE_EVENT(1024, operator new[](1024, kAlignment), operator delete[](object, std::size_t{1024}, kAlignment));
  ONE_EVENT(1024, operator new[](1024, kAlignment, std::nothrow), operator delete[](object, kAlignment, std::nothrow));
  /* Large objects take the slow path. */
  ONE_EVENT(1000000, operator new(1000000), operator delete(object));
  ONE_EVENT(1000000, operator new[](1000000), operator delete[](object, std::size_t{1000000}));
  ONE_EVENT(1000000, operator new(1000000, kAlignment), operator delete(object, kAlignment));
  ONE_EVENT(1, operator new(1), operator delete(object));

  start();
  Plain *plain = new Plain;
  USE(plain); /* prevents the compiler from removing the allocation and the free */
  delete plain;
  one_event("new Plain", 100);
  start();
  Aligned *aligned = new Aligned;
  CHECK_EQUAL(reinterpret_cast<uintptr_t>(aligned) % 128, 0);
  USE(aligned);
  delete aligned;
  one_event("new Aligned", 256);
  start();
  {
    std::vector<char> bytes(5000);
    USE(bytes.data());
  }
  one_event("std::vector", 5000);
  start();
  {
    std::string text(200, 'x');
    USE(text.data());
  }
  one_event("std::string", 201);
  start();
  operator delete(nullptr);
  operator delete[](nullptr, std::size_t{5});
  operator delete(nullptr, kAlignment);
  struct mallometer_counters d = difference(before, snapshot());
  CHECK_EQUAL(d.frees, 0);
}

volatile size_t too_much = PTRDIFF_MAX - 4096;
int handled;

void gives_up_the_third_time() {
  if (++handled == 3) std::set_new_handler(nullptr);
}

template <typename Allocate>
void throws(Allocate allocate) {
  bool thrown = false;
  handled = 0;
  std::set_new_handler(gives_up_the_third_time);
  start();
  try {
    USE(allocate());
  } catch (const std::bad_alloc &) {
    thrown = true;
  }
  CHECK(thrown);
  CHECK_EQUAL(handled, 3);
  struct mallometer_counters d = difference(before, snapshot());
  CHECK(d.failed >= 1);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0); /* the C++ library allocated the exception, and has freed it */
}

template <typename Allocate>
void is_null(Allocate allocate) {
  handled = 0;
  std::set_new_handler(gives_up_the_third_time);
  start();
  void *object = allocate();
  CHECK(!object);
  CHECK_EQUAL(handled, 3);
  struct mallometer_counters d = difference(before, snapshot());
  CHECK(d.failed >= 1);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0); /* the nothrow form has freed the exception that it caught */
}

void out_of_memory() {
  throws([] { return operator new(too_much); });
  throws([] { return operator new[](too_much); });
  throws([] { return operator new(too_much, kAlignment); });
  throws([] { return operator new[](too_much, kAlignment); });
  throws([] { return operator new(SIZE_MAX); });
  throws([] { return new std::string(too_much / 2, 'x'); });
  is_null([] { return operator new(too_much, std::nothrow); });
  is_null([] { return operator new[](too_much, std::nothrow); });
  is_null([] { return operator new(too_much, kAlignment, std::nothrow); });
  is_null([] { return operator new[](too_much, kAlignment, std::nothrow); });
}

}  // namespace

int main() {
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  /* Taking these addresses creates PLT entries for both functions if the executable is linked to fixed addresses.
   * The executable then seems to define the functions. */
  void *(*volatile allocate)(size_t) = operator new;
  void (*volatile release)(void *) = operator delete;
  ONE_EVENT(100, allocate(100), release(object));
  every_form();
  const struct mallometer_monitor monitor = {nullptr, heard_allocation, heard_free};
  int number = mallometer_monitor_register(&monitor);
  CHECK(number > 0);
  expected = 2;
  every_form();
  CHECK_EQUAL(mallometer_monitor_unregister(static_cast<uint32_t>(number)), 0);
  expected = 0;
  /* mimalloc is written in C, so its operators abort instead of throwing, with or without this library. */
  if (strncmp(self().allocator, "mimalloc", 8) != 0) out_of_memory();
  return 0;
}
