/* A depth-first walk over copies of memory. See native_pointers.h. */
#include "jvm/native_pointers.h"

#include <stddef.h>

#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/resident_memory.h"
#include "platform/sorted.h"

enum {
  MOST_STEPS = 3,
  /* The JVM's structure of a thread leads to the thread's arenas in one step, and to their first chunks in two
   * steps. */
  MOST_STEPS_OF_THREAD = 2,
  WORDS = 1024,
  /* Pointers are sought only in the first WORDS_FOLLOWED words of a structure. */
  WORDS_FOLLOWED = 64,
  WORDS_OF_UNKNOWN = 32,
  FARTHEST_IN_LOW = 64,
  SHARING_THREADS = 2,
  MOST_READS = 400000,
  MOST_READS_OF_CANDIDATE = 4096
};

/* A mapping that begins below LOW and is larger than LARGE counts as a Java heap. Heaps with 32-bit references begin
 * below LOW, and the allocator has no mappings of this size there. */
#define LOW ((uint64_t)64 << 30)
#define LARGE ((uint64_t)128 << 20)

void native_ranges_read(struct native_ranges *ranges) {
  struct mappings mappings;
  ranges->count = 0;
  if (!mappings_read(&mappings)) return;
  for (size_t i = 0; i < mappings.count; i++) {
    const struct mapping *row = &mappings.rows[i];
    bool is_heap = row->begin < LOW && row->end - row->begin > LARGE;
    if (!row->is_anonymous || !mapping_is_readable(row) || !mapping_is_writable(row) || is_heap) continue;
    if (ranges->count == sizeof ranges->range / sizeof *ranges->range) break;
    ranges->range[ranges->count++] = (struct native_range){row->begin, row->end};
  }
  mappings_forget(&mappings);
}

bool native_ranges_contain(const struct native_ranges *ranges, uint64_t value) {
  if (value % 16 != 0 || ranges->count == 0 || value < ranges->range[0].begin) return false;
  return value < ranges->range[rows_up_to(ranges->range, ranges->count, sizeof *ranges->range, value) - 1].end;
}

/* ---- Following pointers through native memory ---------------------------------------------------------- */

struct pointer_walk {
  struct owner_graph *graph;
  const struct native_ranges *ranges;
  bool chunks_have_sizes;
  uint32_t reads_left, reads_left_of_candidate;
  uint32_t most_steps;
  /* The number of threads whose memory leads to each block, counted up to SHARING_THREADS. NULL outside of
   * follow_threads(). */
  uint8_t *threads;
  uint8_t threads_of_block[MOST_OWNED];
  uint64_t from;
  /* for each step, the word before the structure, then the words of the structure */
  uint64_t words[MOST_STEPS][WORDS + 1];
};

/* Returns the number of words of the glibc chunk with this header; 0 if the word cannot be a header. */
static size_t plausible_words(uint64_t header) {
  size_t bytes = (size_t)(header & ~(uint64_t)7);
  if (bytes < 32 || bytes % 16 != 0 || bytes > LARGE) return 0;
  return bytes / sizeof(uint64_t) - 1 < WORDS ? bytes / sizeof(uint64_t) - 1 : WORDS;
}

static size_t read_structure(struct pointer_walk *walk, uint64_t address, uint32_t step) {
  uint64_t *words = walk->words[step];
  if (walk->reads_left == 0 || walk->reads_left_of_candidate == 0) return 0;
  walk->reads_left--;
  walk->reads_left_of_candidate--;
  size_t got = memory_copy(COPY_BY_READV, address - sizeof *words, words, (WORDS_FOLLOWED + 1) * sizeof *words);
  size_t count = got / sizeof *words;
  if (count < 2) return 0;
  size_t wanted = walk->chunks_have_sizes ? plausible_words(words[0]) : WORDS_OF_UNKNOWN;
  if (wanted <= count - 1) return wanted;
  if (count < WORDS_FOLLOWED + 1) return count - 1;
  uint64_t *rest = words + WORDS_FOLLOWED + 1;
  got = memory_copy(COPY_BY_READV, address + WORDS_FOLLOWED * sizeof *words, rest,
                    (wanted - WORDS_FOLLOWED) * sizeof *words);
  return WORDS_FOLLOWED + got / sizeof *words;
}

static void note(struct pointer_walk *walk, uint32_t block, uint32_t steps) {
  struct owner_graph *graph = walk->graph;
  if (graph->is_held[block]) return;
  for (uint32_t i = graph->pointers; i-- > 0 && graph->pointer[i].value == walk->from;) {
    struct owner_pointer *known = &graph->pointer[i];
    if (known->block != block) continue;
    if (steps < known->steps) known->steps = steps;
    return;
  }
  if (walk->threads) {
    if (walk->threads[block] == SHARING_THREADS) return;
    walk->threads[block]++;
  }
  if (graph->pointers == MOST_POINTERS) {
    graph->left_out++;
    return;
  }
  graph->pointer[graph->pointers++] = (struct owner_pointer){walk->from, block, steps};
}

/*
 * Returns whether a word counts as a pointer to the block. The word is an address within the block. In a block with low
 * addresses, only the addresses of its first words count, because ordinary numbers often look like low addresses. The
 * first word alone is not enough: a std::string of the old C++ ABI points to the fourth word of its block.
 */
static bool points_to(uint64_t word, const struct owned_block *block) {
  uint64_t offset = word - block->begin;
  return !block->is_low || (offset <= FARTHEST_IN_LOW && offset % sizeof word == 0);
}

static void follow(struct pointer_walk *walk, uint64_t address, uint32_t step) {
  size_t count = read_structure(walk, address, step);
  const uint64_t *words = walk->words[step] + 1;
  for (size_t i = 0; i < count; i++) {
    int block = owner_graph_block_at(walk->graph, words[i]);
    if (block >= 0 && points_to(words[i], &walk->graph->block[block]) && words[i] != walk->from)
      note(walk, (uint32_t)block, step + 1);
    bool follows = step + 1 < walk->most_steps && i < WORDS_FOLLOWED && words[i] != address && words[i] != walk->from;
    if (follows && native_ranges_contain(walk->ranges, words[i])) follow(walk, words[i], step + 1);
  }
}

static void follow_candidates(struct pointer_walk *walk, bool are_of_threads) {
  const struct owner_graph *graph = walk->graph;
  walk->most_steps = are_of_threads ? MOST_STEPS_OF_THREAD : MOST_STEPS;
  walk->threads = are_of_threads ? walk->threads_of_block : NULL;
  for (uint32_t i = 0; i < CANDIDATE_PLACES; i++) {
    if (graph->candidate[i] == 0 || graph->is_of_thread[i] != are_of_threads) continue;
    walk->from = graph->candidate[i];
    walk->reads_left_of_candidate = MOST_READS_OF_CANDIDATE;
    follow(walk, walk->from, 0);
  }
}

/* Follows the pointers in the JVM's structure of each thread. A block that is reached from several threads is
 * attributed to none of them. */
static void follow_threads(struct pointer_walk *walk) {
  struct owner_graph *graph = walk->graph;
  uint32_t kept = graph->pointers;
  follow_candidates(walk, true);
  for (uint32_t i = kept; i < graph->pointers; i++) {
    if (walk->threads_of_block[graph->pointer[i].block] < SHARING_THREADS) graph->pointer[kept++] = graph->pointer[i];
  }
  graph->pointers = kept;
}

void native_pointers_follow(struct owner_graph *graph, const struct native_ranges *ranges, bool chunks_have_sizes) {
  struct pointer_walk *walk = memory_reserve(sizeof *walk);
  if (!walk) return;
  walk->graph = graph;
  walk->ranges = ranges;
  walk->chunks_have_sizes = chunks_have_sizes;
  walk->reads_left = MOST_READS;
  follow_candidates(walk, false);
  follow_threads(walk);
  memory_give_back(walk, sizeof *walk);
  owner_graph_sort_pointers(graph);
}
