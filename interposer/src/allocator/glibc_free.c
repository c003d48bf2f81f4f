/* Recognizes free chunks of glibc's malloc by their sizes and list pointers. See glibc_free.h. */
#include "allocator/glibc_free.h"

#include "platform/memory.h"

#define SMALLEST ((uintptr_t)1056) /* smaller chunks may be in a singly linked list (tcache, fast bins) */
#define LARGEST ((uintptr_t)1 << 40)
#define LOWEST_ADDRESS ((uintptr_t)65536)

enum { PREVIOUS_IN_USE = 1, IS_MAPPED = 2, FLAGS = 7, CHUNK_ALIGNMENT = 16 };

struct head {
  uintptr_t previous_bytes, bytes, next, previous;
};

enum { WORDS_OF_HEAD = sizeof(struct head) / sizeof(uintptr_t) };

static bool is_address(uintptr_t word) { return word % CHUNK_ALIGNMENT == 0 && word >= LOWEST_ADDRESS; }

/* Returns whether words look like the beginning of a free chunk. The previous chunk must be in use, because glibc
 * merges adjacent free chunks. */
static bool looks_free(const struct head *head) {
  uintptr_t bytes = head->bytes & ~(uintptr_t)FLAGS;
  return (head->bytes & (PREVIOUS_IN_USE | IS_MAPPED)) == PREVIOUS_IN_USE && bytes % CHUNK_ALIGNMENT == 0 &&
         bytes >= SMALLEST && bytes <= LARGEST && is_address(head->next) && is_address(head->previous);
}

static bool copied(enum memory_copying by, uintptr_t from, struct head *to) {
  return memory_copy(by, from, to, sizeof *to) == sizeof *to;
}

/* glibc's HEAP_MAX_SIZE. The struct of an arena lies near the beginning of its first heap, after heap_info. */
#define HEAP_BYTES ((uintptr_t)64 << 20)
#define MOST_BEFORE_ARENA ((uintptr_t)4096)

bool glibc_has_chunks_at(enum memory_copying by, uintptr_t address, uintptr_t begin, uintptr_t end) {
  enum { ARENA, HEAP_BEFORE, BYTES, WORDS };
  uintptr_t info[WORDS], break_now = memory_break(), heap = address / HEAP_BYTES * HEAP_BYTES;
  if (address < begin || address >= end) return false;
  if (break_now > begin && break_now <= end) return address < break_now;
  if (heap < begin || memory_copy(by, heap, info, sizeof info) != sizeof info) return false;
  bool is_arena = info[ARENA] % CHUNK_ALIGNMENT == 0 && info[ARENA] % HEAP_BYTES > 0 &&
                  info[ARENA] % HEAP_BYTES < MOST_BEFORE_ARENA;
  return is_arena && info[BYTES] <= HEAP_BYTES && address - heap < info[BYTES];
}

bool glibc_chunk_is_free(enum memory_copying by, const struct free_chunk *chunk) {
  struct head head, behind, next, previous;
  if (!copied(by, chunk->begin, &head) || !looks_free(&head)) return false;
  if ((head.bytes & ~(uintptr_t)FLAGS) != chunk->end - chunk->begin) return false;
  return copied(by, chunk->end, &behind) && !(behind.bytes & PREVIOUS_IN_USE) &&
         behind.previous_bytes == chunk->end - chunk->begin && copied(by, head.next, &next) &&
         next.previous == chunk->begin && copied(by, head.previous, &previous) && previous.next == chunk->begin;
}

bool glibc_free_chunk_in(enum memory_copying by, const uintptr_t *words, size_t count, uintptr_t address,
                         struct free_chunk *chunk) {
  size_t first = address / sizeof *words % 2; /* The chunks begin at multiples of 16 bytes. */
  for (size_t i = first; i + WORDS_OF_HEAD <= count; i += 2) {
    const struct head head = {words[i], words[i + 1], words[i + 2], words[i + 3]};
    if (!looks_free(&head)) continue;
    uintptr_t begin = address + i * sizeof *words;
    *chunk = (struct free_chunk){begin, begin + (head.bytes & ~(uintptr_t)FLAGS)};
    if (glibc_chunk_is_free(by, chunk)) return true;
  }
  return false;
}
