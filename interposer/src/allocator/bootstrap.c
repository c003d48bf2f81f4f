/* Serves allocations from the bootstrap buffer. See bootstrap.h. */
#include "allocator/bootstrap.h"

#include <errno.h>
#include <sys/mman.h>

#include "platform/system_calls.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* kernels before 4.17 take the address as a hint */
#endif

#define CAPACITY 65536u
/* The lowest page that an unprivileged process may map by default (vm.mmap_min_addr). */
#define LOW_ADDRESS ((char *)0x10000)
#define HEADER 16u

uintptr_t low_range_end = UINTPTR_MAX;

static _Alignas(16) char fallback[CAPACITY];
static char *buffer;
static size_t used;

static char *map_low(void) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  void *low = call_mmap(LOW_ADDRESS, CAPACITY, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (low == LOW_ADDRESS) return low;
  if (low != MAP_FAILED) call_munmap(low, CAPACITY);
  return NULL;
}

static char *buffer_mapped_once(void) {
  char *known = __atomic_load_n(&buffer, __ATOMIC_ACQUIRE);
  if (known) return known;
  char *fresh = map_low();
  if (!fresh) fresh = fallback;
  char *expected = NULL;
  if (__atomic_compare_exchange_n(&buffer, &expected, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
  return expected;
}

void *bootstrap_allocate(size_t alignment, size_t size) {
  char *base = buffer_mapped_once();
  if (alignment < HEADER) alignment = HEADER;
  if (size < CAPACITY && alignment < CAPACITY) {
    size_t room = HEADER + alignment + ((size + 15) & ~(size_t)15);
    size_t begin = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);
    if (begin + room <= CAPACITY) {
      uintptr_t object = ((uintptr_t)base + begin + HEADER + alignment - 1) & ~(uintptr_t)(alignment - 1);
      ((size_t *)object)[-1] = size;
      return (void *)object;
    }
  }
  errno = ENOMEM;
  return NULL;
}

bool is_bootstrap(const void *object) {
  const char *base = __atomic_load_n(&buffer, __ATOMIC_ACQUIRE);
  return base && (uintptr_t)object - (uintptr_t)base < CAPACITY;
}

size_t bootstrap_size(const void *object) { return ((const size_t *)object)[-1]; }

void bootstrap_finish(void) {
  uintptr_t end = 1; /* free() takes the slow path only for NULL if no buffer is at LOW_ADDRESS */
  if (buffer == LOW_ADDRESS) end = (uintptr_t)LOW_ADDRESS + CAPACITY;
  __atomic_store_n(&low_range_end, end, __ATOMIC_RELEASE);
}

bool bootstrap_is_above_low_range(void) { return buffer == fallback; }

void low_range_extend(uintptr_t end) {
  if (low_range_end < end) __atomic_store_n(&low_range_end, end, __ATOMIC_RELEASE);
}

size_t bootstrap_footprint(void) { return buffer && buffer != fallback ? CAPACITY : 0; }
