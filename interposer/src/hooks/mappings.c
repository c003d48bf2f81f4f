/* Records which addresses the program maps, and which call sites map them. See mappings.h. */
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
#include "platform/keep_errno.h"
#include "platform/loaded_objects.h"
#include "platform/loader.h"
#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/memory_probes.h"
#include "platform/own_stack.h"
#include "platform/system_calls.h"
#include "sample/call_sites.h"
#include "sample/sampler.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define ORIGIN ((struct origin){__builtin_return_address(0), __builtin_dwarf_cfa()})

/* ---- The next mmap, munmap and mremap ------------------------------------------------------------------ */

static void *mremap_by_system(void *memory, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void *wish = va_arg(arguments, void *);
  va_end(arguments);
  return call_mremap(memory, old_bytes, bytes, flags, wish);
}

typedef void *mmap_function(void *wish, size_t bytes, int protection, int flags, int file, off_t offset);

static struct {
  mmap_function *mmap;
  mmap_function *mmap64;
  int (*munmap)(void *memory, size_t bytes);
  void *(*mremap)(void *memory, size_t old_bytes, size_t bytes, int flags, ...);
} behind = {call_mmap, call_mmap, call_munmap, mremap_by_system};

static bool find_next(void *function, const char *name, const void *ours) {
  const void *address = dlsym(RTLD_NEXT, name);
  bool found = address && address != ours;
  if (found) memcpy(function, &address, sizeof address);
  return found;
}

/* Finds the mmap, munmap and mremap that follow this library's in the search order. Counts no events meanwhile,
 * because the loader allocates and frees a message if a look-up fails. */
void mappings_find_next(void) {
  struct thread_block *own = thread_block_leave();
#define FIND(function) find_next(&behind.function, #function, (const void *)(uintptr_t)program_##function)
  FIND(mmap);
  if (!FIND(mmap64)) behind.mmap64 = behind.mmap;
  FIND(munmap);
  FIND(mremap);
#undef FIND
  forget_loader_errors();
  thread_block_return(own);
}

/* ---- Whether mappings are recorded --------------------------------------------------------------------- */

/* The ID of the process that records its mappings. A child of vfork shares this memory, but its ID differs, so its
 * mappings are not recorded. A child of fork stores its own ID. */
static pid_t noting;

/* The size in bytes of the smallest anonymous mapping that seed() records. */
#define LARGE_RESERVATION ((uintptr_t)1 << 20)

static void seed(void) {
  struct mappings before;
  KEEP_ERRNO;
  if (mappings_read(&before)) {
    for (size_t i = 0; i < before.count; i++) {
      const struct mapping *mapping = &before.rows[i];
      bool is_large = mapping->end - mapping->begin >= LARGE_RESERVATION;
      if (mapping->is_anonymous && is_large) ranges_fill(mapping->begin, mapping->end, RANGE_FROM_BEFORE);
    }
    mappings_forget(&before);
  }
}

void mappings_start(bool is_late) {
  static const struct ranges_sites of_ranges = {call_sites_refer, call_sites_release_all};
  __atomic_store_n(&noting, call_getpid(), __ATOMIC_RELAXED);
  if (ranges_start(&of_ranges) && is_late) seed();
}

const char *mappings_missing(void) { return ranges_missing(); }

static bool is_noting(void) {
  return ranges_on() && __atomic_load_n(&hook_state, __ATOMIC_RELAXED) == HOOK_COUNTING &&
         call_getpid() == __atomic_load_n(&noting, __ATOMIC_RELAXED);
}

void mappings_forked(void) {
  ranges_forked();
  __atomic_store_n(&noting, call_getpid(), __ATOMIC_RELAXED);
}

/* ---- Call sites ---------------------------------------------------------------------------------------- */

enum { MOST_WALKS = 4000, WALKS_FOR_LARGE = 1000, WALKS_A_SECOND = 50, LARGE_BYTES = 256 << 10 };

static int32_t walks_left = MOST_WALKS;
static uint64_t walks_added_ns;
static uint64_t not_walked;

uint64_t mappings_not_walked(void) { return __atomic_load_n(&not_walked, __ATOMIC_RELAXED); }

static void add_walks(void) {
  uint64_t now = coarse_monotonic_ns(), before = __atomic_load_n(&walks_added_ns, __ATOMIC_RELAXED);
  uint64_t walks = (now - before) / (1000000000 / WALKS_A_SECOND);
  if (now <= before || walks == 0) return;
  if (!__atomic_compare_exchange_n(&walks_added_ns, &before, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  int32_t left = __atomic_load_n(&walks_left, __ATOMIC_RELAXED), room = MOST_WALKS - left;
  if (room <= 0) return;
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

/* Returns whether the caller's code belongs to the object that defines the next malloc, for example jemalloc. Calls
 * of mmap in the C library's own malloc never reach this library. */
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

/* Calls a probe for tracers (platform/memory_probes.h). Skips mappings of the allocator, because their objects have
 * probes of their own. */
static void tell(void probe(const void *memory, size_t bytes), const void *memory, size_t bytes, struct origin origin) {
  if (!is_of_allocator(origin.caller)) probe(memory, bytes);
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

/* ---- Recording mappings --------------------------------------------------------------------------------- */

static uintptr_t end_of(const void *memory, size_t bytes) { return (uintptr_t)memory + memory_whole_pages(bytes); }

/* Returns whether the addresses are part of the calling thread's own stack. Such a mapping is not recorded: a JVM maps
 * the last pages of a stack anew, as guards. */
static bool is_own_stack(uintptr_t begin, uintptr_t end, struct origin origin) {
  struct own_stack own;
  return own_stack_at((uintptr_t)origin.stack, &own) && begin >= own.begin && end <= own.end;
}

struct change {
  bool noted;
  uint32_t generation;
  bool unmaps;
  uint64_t latest;
};

/* Prepares to record a change of mappings, before the system call. `unmaps` says whether the call may unmap memory,
 * even if it then fails. Preserves errno. */
static struct change begin_change(bool unmaps) {
  KEEP_ERRNO; /* a sandbox may refuse getpid(2), which then sets errno */
  struct change change = {.generation = ranges_generation(), .noted = is_noting()};
  change.unmaps = unmaps && change.noted;
  if (change.unmaps) change.latest = ranges_before_unmapping();
  return change;
}

static void end_change(struct change change) {
  if (change.unmaps) ranges_after_unmapping();
}

/* Removes the ranges at `wish` if the failed call has unmapped the memory there. Calls with MAP_FIXED or
 * MREMAP_FIXED may do that and then fail. */
static void note_failure(struct change change, const void *wish, size_t bytes) {
  if (change.unmaps && memory_is_unmapped(wish)) ranges_remove((uintptr_t)wish, end_of(wish, bytes), change.latest);
}

/* Records a mapping that succeeded. Skips a mapping with MAP_FIXED in the thread's own stack. Also skips a mapping
 * over known ranges that all have one site: these ranges keep that site. */
static void note_mapping(struct change change, const void *memory, size_t bytes, struct origin origin) {
  uintptr_t begin = (uintptr_t)memory, end = end_of(memory, bytes);
  uint32_t site;
  if (!change.unmaps) {
    ranges_insert(begin, end, site_of(bytes, origin), change.generation);
  } else if (is_own_stack(begin, end, origin)) {
    return;
  } else if (ranges_find(begin, end, true, &site)) {
    call_sites_refer(site, -1);
  } else {
    ranges_insert(begin, end, site_of(bytes, origin), change.generation);
  }
}

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static void *map(mmap_function *next_mmap, void *wish, size_t bytes, int protection, int flags, int file, off_t offset,
                 struct origin origin) {
  struct change change = begin_change((flags & MAP_FIXED) && !(flags & MAP_FIXED_NOREPLACE));
  void *memory = next_mmap(wish, bytes, protection, flags, file, offset);
  if (!change.noted) return memory;
  KEEP_ERRNO;
  if (memory == MAP_FAILED) {
    note_failure(change, wish, bytes);
  } else {
    note_mapping(change, memory, bytes, origin);
    tell(probe_mapping, memory, bytes, origin);
  }
  end_change(change);
  return memory;
}

void *program_mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  return map(behind.mmap, wish, bytes, protection, flags, file, offset, ORIGIN);
}

void *program_mmap64(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  return map(behind.mmap64, wish, bytes, protection, flags, file, offset, ORIGIN);
}

int program_munmap(void *memory, size_t bytes) {
  struct change change = begin_change(true);
  if (change.noted) tell(probe_unmapping, memory, bytes, ORIGIN);
  int result = behind.munmap(memory, bytes);
  if (!change.noted) return result;
  KEEP_ERRNO;
  if (result == 0) ranges_remove((uintptr_t)memory, end_of(memory, bytes), change.latest);
  end_change(change);
  return result;
}

void *program_mremap(void *memory, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void *wish = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(arguments, void *) : NULL;
  va_end(arguments);
  int saved_errno = errno;
  uint32_t site = RANGE_WITHOUT_SITE;
  struct change change = begin_change(true);
  bool known = change.noted && ranges_find((uintptr_t)memory, (uintptr_t)memory + 1, false, &site);
  if (change.noted && !(flags & MREMAP_DONTUNMAP)) tell(probe_unmapping, memory, old_bytes, ORIGIN);
  errno = saved_errno;
  void *moved = behind.mremap(memory, old_bytes, bytes, flags, wish);
  if (!change.noted) return moved;
  saved_errno = errno;
  if (moved == MAP_FAILED) {
    call_sites_refer(site, -1);
    if (flags & MREMAP_FIXED) note_failure(change, wish, bytes);
    if (!(flags & MREMAP_DONTUNMAP)) tell(probe_mapping, memory, old_bytes, ORIGIN);
  } else {
    if (!(flags & MREMAP_DONTUNMAP)) ranges_remove((uintptr_t)memory, end_of(memory, old_bytes), change.latest);
    ranges_insert((uintptr_t)moved, end_of(moved, bytes), known ? site : site_of(bytes, ORIGIN), change.generation);
    tell(probe_mapping, moved, bytes, ORIGIN);
  }
  end_change(change);
  errno = saved_errno;
  return moved;
}
