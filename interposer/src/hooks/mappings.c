/* Notes what the program maps. See mappings.h. */
#include "hooks/mappings.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "account/ranges.h"
#include "account/thread_block.h"
#include "allocator/next.h"
#include "hooks/state.h"
#include "platform/clock.h"
#include "platform/glibc_versions.h"
#include "platform/loaded_objects.h"
#include "platform/memory.h"
#include "platform/system_mappings.h"
#include "sample/call_sites.h"
#include "sample/sampler.h"

#define ORIGIN ((struct origin){__builtin_return_address(0), __builtin_dwarf_cfa()})

/* ---- The next functions -------------------------------------------------------------------------------- */

static struct {
  mmap_function *mmap;
  mmap_function *mmap64;
  munmap_function *munmap;
  mremap_function *mremap;
} behind = {system_mmap, system_mmap, system_munmap, system_mremap};

/* Sets a pointer to the next function of a name, unless there is none or it is this library's. */
static void find_next(void *function, const char *name, const void *ours) {
  const void *address = dlsym(RTLD_NEXT, name);
  if (address && address != ours) memcpy(function, &address, sizeof address);
}

void mappings_find_next(void) {
#define FIND(function) find_next(&behind.function, #function, (const void *)(uintptr_t)program_##function)
  FIND(mmap);
  FIND(mmap64);
  FIND(munmap);
  FIND(mremap);
#undef FIND
}

/* ---- Whether to note ----------------------------------------------------------------------------------- */

/* The process that notes; its children of vfork have other numbers, those of fork store theirs. */
static pid_t noting;

bool mappings_start(void) {
  __atomic_store_n(&noting, getpid(), __ATOMIC_RELAXED);
  return ranges_start(call_sites_refer);
}

static bool is_noting(void) {
  return ranges_on() && __atomic_load_n(&hook_state, __ATOMIC_RELAXED) == HOOK_COUNTING &&
         getpid() == __atomic_load_n(&noting, __ATOMIC_RELAXED);
}

void mappings_forked(void) {
  ranges_forked();
  __atomic_store_n(&noting, getpid(), __ATOMIC_RELAXED);
}

/* ---- Call sites ---------------------------------------------------------------------------------------- */

enum { MOST_WALKS = 4000, WALKS_FOR_LARGE = 1000, WALKS_A_SECOND = 50, LARGE_BYTES = 256 << 10 };

static int32_t walks_left = MOST_WALKS;
static uint64_t walks_added_ns;
static uint64_t not_walked;

uint64_t mappings_not_walked(void) { return __atomic_load_n(&not_walked, __ATOMIC_RELAXED); }

/* Adds the walks of the time since the latest addition. */
static void add_walks(void) {
  uint64_t now = coarse_monotonic_ns(), before = __atomic_load_n(&walks_added_ns, __ATOMIC_RELAXED);
  uint64_t walks = (now - before) / (1000000000 / WALKS_A_SECOND);
  if (now <= before || walks == 0) return;
  if (!__atomic_compare_exchange_n(&walks_added_ns, &before, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  int32_t left = __atomic_load_n(&walks_left, __ATOMIC_RELAXED), room = MOST_WALKS - left;
  __atomic_fetch_add(&walks_left, walks < (uint64_t)room ? (int32_t)walks : room, __ATOMIC_RELAXED);
}

static bool take_walk(size_t bytes) {
  int32_t kept = bytes < LARGE_BYTES ? WALKS_FOR_LARGE : 0;
  add_walks();
  if (__atomic_fetch_sub(&walks_left, 1, __ATOMIC_RELAXED) > kept) return true;
  __atomic_fetch_add(&walks_left, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&not_walked, 1, __ATOMIC_RELAXED);
  return false;
}

/* Returns whether the code is of the object that defines malloc. The C library's own calls come past this library. */
static bool is_of_allocator(const void *caller) {
  static uintptr_t begin, end;
  if (!__atomic_load_n(&end, __ATOMIC_ACQUIRE)) {
    struct loaded_object object;
    if (!loaded_object_at((uintptr_t)next.malloc, &object)) return false;
    __atomic_store_n(&begin, object.begin, __ATOMIC_RELAXED);
    __atomic_store_n(&end, object.end, __ATOMIC_RELEASE);
  }
  return (uintptr_t)caller >= begin && (uintptr_t)caller < end;
}

static uint32_t site_of(size_t bytes, struct origin origin) {
  if (is_of_allocator(origin.caller)) return RANGE_OF_ALLOCATOR;
  if (!take_walk(bytes)) return RANGE_WITHOUT_SITE;
  struct thread_block *block = own_block();
  if (!is_thread_block(block)) block = NULL;
  uint32_t work, site = call_sites_of_mapping(block, bytes, origin, &work);
  sampler_spend(block, work);
  return site;
}

/* ---- Notes ---------------------------------------------------------------------------------------------- */

static uintptr_t end_of(const void *memory, size_t bytes) { return (uintptr_t)memory + memory_whole_pages(bytes); }

/* Notes a mapping that succeeded. Keeps errno. */
static void note_mapping(const void *memory, size_t bytes, bool may_lie_over_others, struct origin origin) {
  uintptr_t begin = (uintptr_t)memory, end = end_of(memory, bytes);
  uint32_t site;
  if (may_lie_over_others && ranges_find(begin, end, true, &site)) {
    call_sites_refer(site, -1);
  } else {
    ranges_insert(begin, end, site_of(bytes, origin));
  }
}

static void *map(mmap_function *next_mmap, void *wish, size_t bytes, int protection, int flags, int file, off_t offset,
                 struct origin origin) {
  void *memory = next_mmap(wish, bytes, protection, flags, file, offset);
  if (memory == MAP_FAILED || !is_noting()) return memory;
  int saved_errno = errno;
  note_mapping(memory, bytes, flags & MAP_FIXED, origin);
  errno = saved_errno;
  return memory;
}

void *program_mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  return map(behind.mmap, wish, bytes, protection, flags, file, offset, ORIGIN);
}

void *program_mmap64(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  return map(behind.mmap64, wish, bytes, protection, flags, file, offset, ORIGIN);
}

int program_munmap(void *memory, size_t bytes) {
  uint64_t latest = ranges_latest();
  int result = behind.munmap(memory, bytes);
  if (result != 0 || !is_noting()) return result;
  int saved_errno = errno;
  ranges_remove((uintptr_t)memory, end_of(memory, bytes), latest);
  errno = saved_errno;
  return result;
}

void *program_mremap(void *memory, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void *wish = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(arguments, void *) : NULL;
  va_end(arguments);
  bool notes = is_noting();
  int saved_errno = errno;
  uint32_t site = RANGE_WITHOUT_SITE;
  uint64_t latest = ranges_latest();
  bool known = notes && ranges_find((uintptr_t)memory, (uintptr_t)memory + 1, false, &site);
  errno = saved_errno;
  void *moved = behind.mremap(memory, old_bytes, bytes, flags, wish);
  if (!notes) return moved;
  saved_errno = errno;
  if (moved == MAP_FAILED) {
    call_sites_refer(site, -1);
  } else {
    if (!(flags & MREMAP_DONTUNMAP)) ranges_remove((uintptr_t)memory, end_of(memory, old_bytes), latest);
    ranges_insert((uintptr_t)moved, end_of(moved, bytes), known ? site : site_of(bytes, ORIGIN));
  }
  errno = saved_errno;
  return moved;
}
