/* Finds glibc's heaps, and estimates the number of free chunks from a sample of their pages ("windows"). See
 * glibc_heaps.h. */
#include "allocator/glibc_heaps.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/kernel.h"
#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/readable_memory.h"

#define WINDOW ((size_t)4096)
/* The greatest length of a heap outside the main arena (HEAP_MAX_SIZE). Such heaps begin at multiples of HEAP_BYTES. */
#define HEAP_BYTES ((uintptr_t)64 << 20)

enum {
  WINDOWS_OF_HEAP = 64, /* pages to read in each heap; in a heap above 64 MiB, one page for each MiB */
  MOST_WINDOWS = 16384, /* the most pages to read in all heaps together; each takes 1.5 us */
  LEAST_WINDOWS = 16,   /* the fewest pages to read of a heap, even if all heaps together then exceed MOST_WINDOWS */
  MOST_HEAPS = 2048,
  MOST_ARENAS = 1024,  /* glibc makes at most eight for each processor by default */
  MOST_BEGINS = 16384, /* the most addresses to test for the beginning of a heap, 1 us each; they cover 1 TiB */
  /* A swapped page counts as 300 free chunks, because glibc's statistics would wait 0.1 ms for the page, and take
   * 0.1 ms for 300 chunks. */
  CHUNKS_OF_SWAPPED = 300,
  LARGEST_IN_FAST_BIN = 128, /* bytes of a chunk, on 64-bit machines */
  LEAST_IN_CHAIN = 3,
  PREVIOUS_IN_USE = 1,
  IS_MAPPED = 2,
  NOT_OF_MAIN_ARENA = 4
};

struct heap {
  uintptr_t begin, end;
  bool is_main;
  struct arena *arena;
  size_t windows;
};

struct estimate {
  bool is_complete;
  unsigned begins;
  size_t windows;
  struct arena {
    uintptr_t address; /* 0: the main arena */
    double chunks;
  } arenas[MOST_ARENAS];
  unsigned arena_count;
  struct heap heaps[MOST_HEAPS];
  unsigned heap_count;
};

/* ---- Reading the heaps --------------------------------------------------------------------------------- */

/* Reads only pages that were touched, because a read of an untouched page would create page tables. */
static bool read_heap(uintptr_t from, void *to, size_t bytes) {
  enum page_state state = own_page_state(from);
  return (state == PAGE_IN_MEMORY || state == PAGE_SWAPPED) && own_memory_read(from, to, bytes);
}

/* ---- Free chunks in one window ------------------------------------------------------------------------- */

struct window {
  const struct heap *heap;
  uintptr_t begin;
  size_t words[WINDOW / sizeof(size_t)];
};

/*
 * Returns the size of the chunk whose size word is at `offset` (8 bytes after a multiple of 16). Returns 0 if the
 * word cannot be a size. Tests NOT_OF_MAIN_ARENA in the main heap only, because free chunks of other heaps lack this
 * flag.
 */
static size_t size_at(const struct window *window, size_t offset) {
  size_t word = window->words[offset / sizeof(size_t)], bytes = word & ~(size_t)7;
  bool is_of_heap = !(word & IS_MAPPED) && !(window->heap->is_main && word & NOT_OF_MAIN_ARENA);
  bool fits = bytes >= 32 && bytes % 16 == 0 && bytes <= window->heap->end - window->begin - offset;
  return is_of_heap && fits ? bytes : 0;
}

/* Returns the first offset in the window at which a chain begins. A chain has at least LEAST_IN_CHAIN size words;
 * each leads to the next, and the last leads to the window's end or beyond. Returns WINDOW if there is no chain. */
static size_t chain_in(const struct window *window) {
  for (size_t first = sizeof(size_t); first < WINDOW; first += 16) {
    size_t at = first, bytes, length = 0;
    while (at < WINDOW && (bytes = size_at(window, at)) > 0) at += bytes, length++;
    if (at >= WINDOW && length >= LEAST_IN_CHAIN) return first;
  }
  return WINDOW;
}

/* Returns whether a chunk of `bytes` lies at `chunk`. Links of a fast bin point to this address, which is 8 bytes
 * before the size word. */
static bool is_chunk_of(const struct heap *heap, uintptr_t chunk, size_t bytes) {
  const size_t flags = PREVIOUS_IN_USE | IS_MAPPED | NOT_OF_MAIN_ARENA;
  size_t word;
  return chunk % 16 == 0 && chunk >= heap->begin && chunk < heap->end - 2 * sizeof word &&
         read_heap(chunk + sizeof word, &word, sizeof word) && (word & ~flags) == bytes;
}

/*
 * Returns whether a chunk's first word can be a link in a list of small free chunks (fast bin). Such a link ends the
 * list or points to a chunk of the same size. The size is compared because many used objects also begin with a
 * pointer into the heap. Since glibc 2.32 the word is XORed with bits of its own address.
 */
static bool leads_to_equal(const struct window *window, size_t offset, size_t bytes) {
  if (offset + sizeof(size_t) >= WINDOW) return false;
  uintptr_t word = window->words[offset / sizeof(size_t) + 1], address = window->begin + offset + sizeof(size_t);
  uintptr_t unmixed = word ^ address >> 12;
  return unmixed == 0 || is_chunk_of(window->heap, word, bytes) || is_chunk_of(window->heap, unmixed, bytes);
}

static unsigned free_chunks_in(const struct window *window) {
  unsigned count = 0;
  for (size_t at = chain_in(window), next; at < WINDOW; at = next) {
    size_t bytes = size_at(window, at);
    next = at + bytes;
    bool is_in_bin = next < WINDOW && !(window->words[next / sizeof(size_t)] & PREVIOUS_IN_USE);
    count += is_in_bin || (bytes <= LARGEST_IN_FAST_BIN && leads_to_equal(window, at, bytes));
  }
  return count;
}

/* ---- Finding the heaps --------------------------------------------------------------------------------- */

static struct arena *arena_at(struct estimate *estimate, uintptr_t address) {
  for (unsigned i = 0; i < estimate->arena_count; i++) {
    if (estimate->arenas[i].address == address) return &estimate->arenas[i];
  }
  if (estimate->arena_count == MOST_ARENAS) return NULL;
  estimate->arenas[estimate->arena_count] = (struct arena){address, 0};
  return &estimate->arenas[estimate->arena_count++];
}

static void add_heap(struct estimate *estimate, struct arena *arena, uintptr_t begin, uintptr_t end, bool is_main) {
  if (!arena || estimate->heap_count == MOST_HEAPS) {
    estimate->is_complete = false;
    return;
  }
  size_t pages = (end - begin) / WINDOW, windows = (end - begin) / (HEAP_BYTES / WINDOWS_OF_HEAP);
  if (windows < WINDOWS_OF_HEAP) windows = WINDOWS_OF_HEAP;
  if (windows > pages) windows = pages;
  estimate->windows += windows;
  estimate->heaps[estimate->heap_count++] = (struct heap){begin, end, is_main, arena, windows};
}

static size_t share_of(const struct estimate *estimate, const struct heap *heap) {
  if (estimate->windows <= MOST_WINDOWS) return heap->windows;
  size_t share = (size_t)((double)heap->windows / (double)estimate->windows * MOST_WINDOWS);
  if (share < LEAST_WINDOWS) share = LEAST_WINDOWS;
  return share < heap->windows ? share : heap->windows;
}

static void look_at_heap(struct estimate *estimate, const struct heap *heap) {
  size_t pages = (heap->end - heap->begin) / WINDOW, windows = share_of(estimate, heap);
  uint64_t free_chunks = 0, seen = 0;
  for (size_t i = 0; i < windows; i++) {
    struct window window = {.heap = heap, .begin = heap->begin + pages * i / windows * WINDOW};
    enum page_state state = own_page_state(window.begin);
    if (state == PAGE_UNKNOWN) continue;
    seen++;
    if (state == PAGE_SWAPPED) free_chunks += CHUNKS_OF_SWAPPED;
    if (state != PAGE_IN_MEMORY || !own_memory_read(window.begin, window.words, WINDOW)) continue;
    free_chunks += free_chunks_in(&window);
  }
  if (seen == 0 && pages > 0) estimate->is_complete = false;
  if (seen > 0) heap->arena->chunks += (double)free_chunks / (double)seen * (double)pages;
}

/* Adds the glibc heap that begins at this address, if there is one. A heap begins with three words: the address of
 * its arena, the address of the previous heap, and the heap's size in bytes. The arena is near the beginning of its
 * first heap. */
static void look_at_begin_of_heap(struct estimate *estimate, uintptr_t begin, uintptr_t end) {
  uintptr_t info[3];
  if (++estimate->begins > MOST_BEGINS) estimate->is_complete = false;
  if (!estimate->is_complete || end - begin < WINDOW || !read_heap(begin, info, sizeof info)) return;
  uintptr_t arena = info[0], bytes = info[2];
  if (arena % 16 != 0 || arena % HEAP_BYTES == 0 || arena % HEAP_BYTES > WINDOW) return;
  if (bytes == 0 || bytes % WINDOW != 0 || bytes > end - begin) return;
  add_heap(estimate, arena_at(estimate, arena), begin, begin + bytes, false);
}

/* Returns whether the break could not grow, so that glibc has continued the main heap elsewhere, in memory that
 * cannot be recognized. glibc then leaves two chunks of 16 bytes at the old end, which are never free. */
static bool continues_elsewhere(uintptr_t end) {
  enum { FENCE = 16 | PREVIOUS_IN_USE };
  size_t words[4];
  return read_heap(end - sizeof words, words, sizeof words) && words[1] == FENCE && words[3] == FENCE;
}

static void look_at_main_heap(struct estimate *estimate, uintptr_t begin, uintptr_t end) {
  if (continues_elsewhere(end)) {
    estimate->is_complete = false;
  } else {
    add_heap(estimate, arena_at(estimate, 0), begin, end, true);
  }
}

/* The heap of brk(2). It may have grown or shrunk since the mappings were read. */
struct range {
  uintptr_t begin, end;
};

static void look_at_mapping(struct estimate *estimate, const struct mapping *mapping, const struct range *heap) {
  if (mapping->protection != (PROT_READ | PROT_WRITE) || !mapping->is_anonymous) return;
  uintptr_t first = mapping->begin > heap->begin ? mapping->begin : heap->begin;
  uintptr_t behind = mapping->end < heap->end ? mapping->end : heap->end;
  if (first < behind) look_at_main_heap(estimate, first, behind);
  uintptr_t begin = (mapping->begin + HEAP_BYTES - 1) & ~(HEAP_BYTES - 1);
  for (; begin < mapping->end && estimate->is_complete; begin += HEAP_BYTES) {
    uintptr_t end = mapping->end - begin < HEAP_BYTES ? mapping->end : begin + HEAP_BYTES;
    look_at_begin_of_heap(estimate, begin, end);
  }
}

/* Returns false, for example, if large pages (glibc.malloc.hugetlb) have moved the main heap elsewhere. */
static bool has_main_heap(const struct estimate *estimate) {
  for (unsigned i = 0; i < estimate->heap_count; i++) {
    if (estimate->heaps[i].is_main) return true;
  }
  return false;
}

static struct estimate estimate;

/* Returns where the heap begins that ends at the break. If the kernel does not report this, as under qemu-user, the
 * heap is the mapping before the break. Returns the break if there is no such mapping. */
static uintptr_t begin_of_heap(const struct mappings *mappings, uintptr_t break_now) {
  uintptr_t begin = process_heap_begin();
  for (size_t i = 0; i < mappings->count && begin == 0; i++) {
    const struct mapping *row = &mappings->rows[i];
    if (row->begin < break_now && break_now <= row->end) begin = row->begin;
  }
  return begin > 0 ? begin : break_now;
}

bool glibc_most_free_chunks(uint64_t *chunks) {
  struct mappings mappings;
  if (!mappings_read(&mappings)) return false;
  const uintptr_t break_now = memory_break() & ~(WINDOW - 1);
  const struct range heap = {begin_of_heap(&mappings, break_now), break_now};
  estimate.begins = estimate.arena_count = estimate.heap_count = 0;
  estimate.windows = 0;
  bool is_open = own_memory_open();
  estimate.is_complete = is_open && own_page_state((uintptr_t)&estimate) != PAGE_UNKNOWN;
  double most = 0;
  for (size_t i = 0; estimate.is_complete && i < mappings.count; i++) {
    look_at_mapping(&estimate, &mappings.rows[i], &heap);
  }
  estimate.is_complete = estimate.is_complete && has_main_heap(&estimate);
  for (unsigned i = 0; estimate.is_complete && i < estimate.heap_count; i++) {
    look_at_heap(&estimate, &estimate.heaps[i]);
  }
  for (unsigned i = 0; i < estimate.arena_count; i++) {
    if (estimate.arenas[i].chunks > most) most = estimate.arenas[i].chunks;
  }
  if (is_open) own_memory_leave();
  mappings_forget(&mappings);
  *chunks = (uint64_t)most;
  return estimate.is_complete;
}
