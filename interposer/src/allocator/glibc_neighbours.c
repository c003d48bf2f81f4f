/* See glibc_neighbours.h. */
#include "allocator/glibc_neighbours.h"

#include <stddef.h>

#include "platform/memory.h"
#include "platform/readable_memory.h"

enum { PREVIOUS_IN_USE = 1, IS_MAPPED = 2, NOT_OF_MAIN_ARENA = 4, FLAGS = 7, LEAST_CHUNK = 32, ALIGNMENT = 16 };

/* Behind its two links, which a trim leaves; of a large one there are two more. */
#define LINKS ((uintptr_t)48)
/* No heap is as large. */
#define MOST_BYTES ((size_t)1 << 40)

static bool read_words(uintptr_t from, size_t *words, size_t count) {
  return own_page_state(from) == PAGE_IN_MEMORY && own_memory_read(from, words, count * sizeof *words);
}

static bool is_size(size_t bytes) { return bytes >= LEAST_CHUNK && bytes % ALIGNMENT == 0 && bytes < MOST_BYTES; }

static uintptr_t up_to(uintptr_t address, uintptr_t multiple) { return (address + multiple - 1) / multiple * multiple; }

/* The free chunk that begins there. */
static struct free_chunk free_chunk(uintptr_t begin, size_t bytes) {
  uint8_t states[OWN_PAGES_AT_ONCE];
  uintptr_t page = memory_page_bytes(), end = begin + bytes, at = begin / page * page;
  /* A trim gives back from the first page behind the links on to the last that is free as a whole. */
  uintptr_t inner = up_to(begin + LINKS, page), behind = end / page * page;
  struct free_chunk chunk = {.bytes = bytes};
  while (at < end) {
    size_t left = (end - at + page - 1) / page, count = left < OWN_PAGES_AT_ONCE ? left : OWN_PAGES_AT_ONCE;
    own_page_states(at, count, states);
    for (size_t i = 0; i < count; i++, at += page) {
      if (states[i] != PAGE_IN_MEMORY) continue;
      uintptr_t from = at < begin ? begin : at, to = at + page > end ? end : at + page;
      chunk.resident_bytes += to - from;
      if (at >= inner && at + page <= behind) chunk.returnable_bytes += page;
    }
  }
  return chunk;
}

/* The chunk's size word lies before the object, and before that, if the one before is free, its size. */
static bool look_before(uintptr_t size_word, const size_t words[2], struct neighbours *out) {
  if (words[1] & PREVIOUS_IN_USE) return true;
  size_t bytes = words[0], there;
  /* Its own size word says the same. */
  if (!is_size(bytes) || !read_words(size_word - bytes, &there, 1) || (there & ~(size_t)FLAGS) != bytes) return false;
  out->before = free_chunk(size_word - sizeof there - bytes, bytes);
  return true;
}

static bool look_behind(uintptr_t size_word, size_t own_bytes, struct neighbours *out) {
  uintptr_t next = size_word + own_bytes;
  size_t word, behind[2];
  if (!read_words(next, &word, 1) || !(word & PREVIOUS_IN_USE) || word & IS_MAPPED) return false;
  size_t bytes = word & ~(size_t)FLAGS;
  /* What is free at the end of a heap may be shorter than any chunk, and ends with a page. */
  if (bytes >= MOST_BYTES || bytes % ALIGNMENT != 0) return false;
  uintptr_t begin = next - sizeof word, end = begin + bytes;
  out->is_last = end % memory_page_bytes() == 0 && !read_words(end + sizeof word, &word, 1);
  if (out->is_last) {
    out->after = free_chunk(begin, bytes);
    return true;
  }
  /* Of a free chunk the size stands at its end too, before the next one's size word, which says that it is free. */
  if (!is_size(bytes) || !read_words(end, behind, 2)) return false;
  if (behind[1] & PREVIOUS_IN_USE) return true;
  if (behind[0] == bytes) out->after = free_chunk(begin, bytes);
  return behind[0] == bytes;
}

bool glibc_neighbours_open(void) { return own_memory_open(); }

void glibc_neighbours_close(void) { own_memory_close(); }

bool glibc_neighbours(const void *object, struct neighbours *out) {
  uintptr_t size_word = (uintptr_t)object - sizeof(size_t);
  size_t words[2];
  *out = (struct neighbours){0};
  if ((uintptr_t)object % ALIGNMENT != 0 || !read_words(size_word - sizeof *words, words, 2)) return false;
  size_t bytes = words[1] & ~(size_t)FLAGS;
  if (words[1] & IS_MAPPED || !is_size(bytes)) return false;
  out->is_of_main_arena = !(words[1] & NOT_OF_MAIN_ARENA);
  return look_before(size_word, words, out) && look_behind(size_word, bytes, out);
}
