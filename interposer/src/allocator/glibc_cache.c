/* Finds the pointer to a thread's cache, and adds up the cached chunks. See glibc_cache.h. */
#include "allocator/glibc_cache.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "allocator/next.h"
#include "platform/arch.h"
#include "platform/glibc_versions.h"
#include "platform/memory.h"
#include "platform/readable_memory.h"
#include "platform/thread.h"

enum {
  /* The bins hold chunks of 32, 48 ... 1,040 bytes. glibc 2.42 added 12 bins for larger objects, which are off by
   * default. */
  BINS = 64,
  CHUNK_BEFORE_2_42 = 0x290,
  CHUNK_SINCE_2_42 = 0x300
};

static uintptr_t libc_begin, libc_end;
static ptrdiff_t offset_of_pointer; /* bytes from the thread pointer to the pointer to the cache; 0: not found */
/* glibc's thread cache (tcache) has a number for each bin. If the numbers count free places, bin_capacity is the
 * most objects in a bin. If they count objects, bin_capacity is 0. */
static unsigned bin_capacity;

static size_t chunk_bytes(size_t word) { return word & ~(size_t)7; }

/* The chunk in which glibc keeps a thread's cache may be somewhat longer than requested. */
static bool is_size_of_cache(size_t word) {
  enum { MOST_MORE = 0x60 };
  size_t bytes = chunk_bytes(word);
  return (bytes >= CHUNK_BEFORE_2_42 && bytes <= CHUNK_BEFORE_2_42 + MOST_MORE) ||
         (bytes >= CHUNK_SINCE_2_42 && bytes <= CHUNK_SINCE_2_42 + MOST_MORE);
}

static size_t size_of(const void *object) { return ((const size_t *)object)[-1]; }

static bool is_cache(const void *object) { return is_size_of_cache(size_of(object)); }

static bool is_chunk_of_cache(uintptr_t object) {
  if (object % 16 != 0 || object < 65536 || object >> 56 != 0) return false;
  return is_readable(object - sizeof(size_t), sizeof(size_t) + BINS * sizeof(uint16_t)) &&
         is_cache((const void *)object);
}

/* Returns how much `numbers[bin]` changes when two objects are freed. Allocates 18 objects first, so that the bin has
 * room. */
static int change_by_two_frees(const volatile uint16_t *numbers, unsigned bin) {
  enum { OBJECTS = 18 };
  void *objects[OBJECTS];
  for (unsigned i = 0; i < OBJECTS; i++) objects[i] = next.malloc(24 + 16 * (size_t)bin);
  int before = numbers[bin];
  next.free(objects[0]);
  next.free(objects[1]);
  int change = numbers[bin] - before;
  for (unsigned i = 2; i < OBJECTS; i++) next.free(objects[i]);
  return change;
}

static bool confirm_cache(const uint16_t *numbers, ptrdiff_t offset) {
  int change = 0;
  for (unsigned bin = BINS - 2; bin > BINS / 2 && change != 2 && change != -2; bin -= 3) {
    change = change_by_two_frees(numbers, bin);
  }
  if (change != 2 && change != -2) return false;
  for (unsigned bin = 0; change < 0 && bin < BINS; bin++)
    bin_capacity = numbers[bin] > bin_capacity ? numbers[bin] : bin_capacity;
  offset_of_pointer = offset;
  return true;
}

static int search(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  uintptr_t in_libc = (uintptr_t)gnu_get_libc_version, bytes = 0, end = 0;
  bool is_libc = false;
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_TLS) bytes = segment->p_memsz;
    if (segment->p_type != PT_LOAD) continue;
    is_libc |= in_libc - info->dlpi_addr - segment->p_vaddr < segment->p_memsz;
    end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
  }
  if (!is_libc || !info->dlpi_tls_data) return is_libc;
  libc_begin = info->dlpi_addr;
  libc_end = end;
  const char *variables = info->dlpi_tls_data;
  for (uintptr_t at = 0; at + sizeof(void *) <= bytes; at += sizeof(void *)) {
    uintptr_t value = *(const uintptr_t *)(variables + at);
    ptrdiff_t offset = variables + at - (const char *)thread_pointer();
    if (is_chunk_of_cache(value) && confirm_cache((const uint16_t *)value, offset)) break;
  }
  return 1;
}

bool glibc_cache_find(void) {
  if (offset_of_pointer == 0) {
    next.free(next.malloc(24)); /* creates the thread's cache */
    dl_iterate_phdr(search, NULL);
  }
  return offset_of_pointer != 0;
}

static unsigned objects_in(const uint16_t *numbers, unsigned bin) {
  if (bin_capacity == 0) return numbers[bin];
  return numbers[bin] <= bin_capacity ? bin_capacity - numbers[bin] : 0;
}

static uint64_t bytes_of_object(unsigned bin) { return 32 + 16 * (uint64_t)bin; }

/* A thread without a cache has a null pointer or, from glibc 2.42 on, a pointer to zeros in the C library. */
static bool has_cache(uintptr_t object) { return object != 0 && !(object >= libc_begin && object < libc_end); }

uint64_t glibc_cache_bytes(void) {
  if (offset_of_pointer == 0) return 0;
  const uint16_t *numbers = *(uint16_t *const *)(thread_pointer() + (uintptr_t)offset_of_pointer);
  if (!has_cache((uintptr_t)numbers)) return 0;
  uint64_t bytes = chunk_bytes(size_of(numbers));
  for (unsigned bin = 0; bin < BINS; bin++) bytes += objects_in(numbers, bin) * bytes_of_object(bin);
  return bytes;
}

/* ---- The caches of all threads ------------------------------------------------------------------------- */

enum { MOST_THREADS = 16384 };

struct held {
  bool is_known;
  uint16_t own_bytes;
  uint16_t objects[BINS];
};

static struct caches {
  uintptr_t list_at; /* bytes from a thread's thread pointer to its list of robust locks; negative on aarch64 */
  uintptr_t id_at;   /* the thread's id is stored this many bytes before its list of robust locks */
  size_t count;
  uint32_t ids[MOST_THREADS], ids_later[MOST_THREADS];
  uintptr_t threads[MOST_THREADS]; /* thread pointers; 0: not found */
  struct held held[MOST_THREADS];
} * caches;

enum { FARTHEST_ID = 64 };

/* Returns the thread pointer of a thread, or 0 if the memory `id_at` bytes before the thread's list of robust locks
 * does not hold `id`. */
static uintptr_t thread_of(uint32_t id) {
  uintptr_t list = thread_robust_list(id);
  uint32_t there;
  if (list <= FARTHEST_ID || !own_memory_read(list - caches->id_at, &there, sizeof there)) return 0;
  return there == id ? list - caches->list_at : 0;
}

static void read_cache(uintptr_t thread, struct held *held) {
  struct {
    size_t size;
    uint16_t numbers[BINS];
  } cache;
  uintptr_t object;
  *held = (struct held){0};
  if (!thread || !own_memory_read(thread + (uintptr_t)offset_of_pointer, &object, sizeof object)) return;
  if (!has_cache(object)) {
    held->is_known = true;
    return;
  }
  if (!own_memory_read(object - sizeof cache.size, &cache, sizeof cache)) return;
  if (!is_size_of_cache(cache.size)) return;
  held->is_known = true;
  held->own_bytes = (uint16_t)chunk_bytes(cache.size);
  for (unsigned bin = 0; bin < BINS; bin++) {
    held->objects[bin] = (uint16_t)objects_in(cache.numbers, bin);
  }
}

static uint64_t bytes_of(const struct held *held) {
  uint64_t bytes = held->own_bytes;
  for (unsigned bin = 0; bin < BINS; bin++) bytes += held->objects[bin] * bytes_of_object(bin);
  return bytes;
}

static uint64_t difference(const struct held *one, const struct held *other) {
  if (!one->is_known || !other->is_known) return GLIBC_CACHE_MOST_BYTES;
  int own_change = one->own_bytes - other->own_bytes;
  uint64_t bytes = (uint64_t)(own_change < 0 ? -own_change : own_change);
  for (unsigned bin = 0; bin < BINS; bin++) {
    int change = one->objects[bin] - other->objects[bin];
    bytes += (uint64_t)(change < 0 ? -change : change) * bytes_of_object(bin);
  }
  return bytes;
}

static bool find_own_description(uint32_t id, uintptr_t list) {
  const uintptr_t farthest = 8192; /* struct pthread has 2,304 bytes in glibc 2.36 */
  uint32_t before[FARTHEST_ID / sizeof(uint32_t)];
  caches->list_at = list - thread_pointer();
  if (caches->list_at + farthest >= 2 * farthest || list <= FARTHEST_ID) return false;
  if (!own_memory_read(list - sizeof before, before, sizeof before)) return false;
  for (size_t back = 1; back <= FARTHEST_ID / sizeof *before; back++) {
    caches->id_at = back * sizeof *before;
    if (before[FARTHEST_ID / sizeof *before - back] == id) return true;
  }
  return false;
}

static bool reads_own_cache(void) {
  uint32_t id = thread_id();
  struct held held;
  if (!find_own_description(id, thread_robust_list(id))) return false;
  read_cache(thread_of(id), &held);
  return held.is_known && bytes_of(&held) == glibc_cache_bytes();
}

bool glibc_caches_open(void) {
  if (offset_of_pointer == 0 || !own_memory_open()) return false;
  caches = memory_map(NULL, sizeof *caches);
  if (caches && reads_own_cache()) return true;
  glibc_caches_close();
  return false;
}

void glibc_caches_close(void) {
  own_memory_leave();
  if (caches) memory_unmap(caches, sizeof *caches);
  caches = NULL;
}

void glibc_caches_note(void) {
  caches->count = thread_ids(caches->ids, MOST_THREADS);
  for (size_t i = 0; i < caches->count; i++) {
    caches->threads[i] = thread_of(caches->ids[i]);
    read_cache(caches->threads[i], &caches->held[i]);
  }
}

/* Counts the threads that started since glibc_caches_note(). Both lists of ids are in the order of starts. */
static size_t threads_since_note(void) {
  size_t count = thread_ids(caches->ids_later, MOST_THREADS), known = 0;
  for (size_t i = 0, at = 0; i < count; i++) {
    size_t found = at;
    while (found < caches->count && caches->ids[found] != caches->ids_later[i]) found++;
    if (found == caches->count) continue;
    at = found + 1;
    known++;
  }
  return count - known;
}

void glibc_caches_compare(uint64_t *bytes, uint64_t *change) {
  *bytes = 0;
  *change = threads_since_note() * GLIBC_CACHE_MOST_BYTES;
  for (size_t i = 0; i < caches->count; i++) {
    struct held now;
    read_cache(caches->threads[i], &now);
    *bytes += bytes_of(&now);
    *change += difference(&caches->held[i], &now);
  }
}
