/* Runs the steps of a search for owners, and copies the results. See owners.h. */
#include "control/owners.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "hooks/state.h"
#include "jvm/owner_search.h"
#include "leak/live_objects.h"
#include "leak/safety_test.h"
#include "leak/slots.h"
#include "platform/memory.h"
#include "platform/sorted.h"

/* Objects below this address are marked `is_low`, because an ordinary 32-bit number may look like their address. */
#define LOW ((uint64_t)1 << 32)

static uint32_t is_busy;          /* a thread is in one of the owners_ functions */
static struct owner_graph *graph; /* NULL without a search */
static uint32_t done;             /* the latest step; 0: none; never MALLOMETER_OWNERS_REFERRERS, see step() */
static uint32_t samples_left_out;
static int pointers_error;

static struct owned_sample {
  const void *object;
  struct live_sample sample;
} * samples;

static const size_t bytes_of_samples = MOST_OWNED * sizeof *samples;

static bool enter(void) { return !__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE); }

static void wait_and_enter(void) {
  while (!enter()) (void)sched_yield();
}

static void leave(void) { __atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE); }

/* ---- Samples ------------------------------------------------------------------------------------------- */

static uint32_t choose(uint32_t site) {
  struct live_objects walk = {0};
  struct live_sample sample;
  const void *object;
  uint32_t count = 0;
  samples_left_out = 0;
  while (live_objects_next(&walk, &object, &sample)) {
    if (sample.site != site) continue;
    if (count == MOST_OWNED) {
      samples_left_out++;
      continue;
    }
    samples[count++] = (struct owned_sample){object, sample};
  }
  return count;
}

static bool is_before(const void *one, const void *other) {
  const struct owned_sample *sample = one, *next = other;
  return (uintptr_t)sample->object < (uintptr_t)next->object;
}

/* Passes the samples to the search, without samples that overlap an earlier one. Samples overlap if memory is freed
 * and allocated again while samples are read. */
static void hand_over(uint32_t count) {
  uint64_t end = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t begin = (uintptr_t)samples[i].object, bytes = samples[i].sample.bytes;
    if (begin < end) continue;
    end = begin + (bytes > 0 ? bytes : 1);
    graph->block[kept] = (struct owned_block){begin, end, begin < LOW};
    samples[kept++] = samples[i];
  }
  graph->blocks = kept;
}

static bool is_freed(uint32_t sample) { return !live_object_is(samples[sample].object, &samples[sample].sample); }

static int begin(uint32_t site) {
  int error;
  struct owned_sample row;
  samples = memory_reserve(bytes_of_samples);
  if (!samples) return -ENOMEM;
  uint32_t count = choose(site);
  graph = count > 0 ? owner_search_begin(&error) : NULL;
  if (!graph) {
    memory_give_back(samples, bytes_of_samples);
    samples = NULL;
    return count > 0 ? error : -ENODATA;
  }
  sort_rows(samples, count, sizeof row, &row, is_before);
  hand_over(count);
  done = 0;
  pointers_error = 0;
  return 0;
}

/* ---- The steps of a search ----------------------------------------------------------------------------- */

/* Tests in a child process whether this process may read its memory by a system call; a sandbox may kill a process
 * that tries. Tests twice, because a busy machine may exceed the time limit of the test. */
static bool may_read_memory(void) {
  return safety_test_copying(COPY_BY_READV) == NULL || safety_test_copying(COPY_BY_READV) == NULL;
}

static int follow_pointers(void) {
  if (!may_read_memory()) {
    pointers_error = -EPERM;
    return -EPERM;
  }
  owner_search_follow_pointers(size_source == SIZE_FROM_CHUNK);
  return 0;
}

static int step_to(uint32_t step) {
  switch (step) {
    case MALLOMETER_OWNERS_HOLDERS:
      return owner_search_find_holders();
    case MALLOMETER_OWNERS_POINTERS:
      return follow_pointers();
    case MALLOMETER_OWNERS_POINTER_HOLDERS:
      return owner_search_find_pointer_holders();
    default:
      return owner_search_find_referrers();
  }
}

static int step(uint32_t wanted) {
  bool is_next = wanted == MALLOMETER_OWNERS_REFERRERS ? done > 0 : wanted == done + 1;
  if (!graph) return -ENODATA;
  if (!is_next || wanted > MALLOMETER_OWNERS_REFERRERS) return -EINVAL;
  int result = step_to(wanted);
  /* A different step after MALLOMETER_OWNERS_REFERRERS could find holders whose referrers would stay unknown. `done`
   * is therefore set to MALLOMETER_OWNERS_POINTER_HOLDERS, the step before, even if that was skipped: step() then
   * accepts only MALLOMETER_OWNERS_REFERRERS. */
  if (result == 0) done = wanted == MALLOMETER_OWNERS_REFERRERS ? MALLOMETER_OWNERS_POINTER_HOLDERS : wanted;
  return result;
}

/* ---- The rows of the result ---------------------------------------------------------------------------- */

static uint32_t hold_rows(struct mallometer_hold *rows, uint32_t capacity) {
  uint32_t count = 0;
  for (; count < graph->holds && count < capacity; count++) {
    const struct owner_hold *hold = &graph->hold[count];
    rows[count] = (struct mallometer_hold){.sample = hold->block,
                                           .freed = is_freed(hold->block),
                                           .object = hold->object,
                                           .class_name = hold->class_name,
                                           .field_name = hold->field_name,
                                           .steps = hold->steps};
  }
  return count;
}

static uint32_t flags_of(const struct heap_object *object) {
  return (object->is_expanded ? MALLOMETER_HEAP_OBJECT_EXPANDED : 0) |
         (object->has_more ? MALLOMETER_HEAP_OBJECT_MORE : 0) |
         (object->is_reached ? MALLOMETER_HEAP_OBJECT_REACHED : 0) |
         (object->is_followed ? MALLOMETER_HEAP_OBJECT_FOLLOWED : 0);
}

static uint32_t object_rows(struct mallometer_heap_object *rows, uint32_t capacity) {
  uint32_t count = 0;
  for (; count < graph->objects && count < capacity; count++) {
    const struct heap_object *object = &graph->object[count];
    rows[count] = (struct mallometer_heap_object){
        .class_name = object->class_name, .kinds = object->kinds, .flags = flags_of(object), .level = object->level};
  }
  return count;
}

static uint32_t link_rows(struct mallometer_heap_link *rows, uint32_t capacity) {
  uint32_t count = 0;
  for (; count < graph->links && count < capacity; count++) {
    const struct heap_link *link = &graph->link[count];
    rows[count] = (struct mallometer_heap_link){.object = link->object,
                                                .referrer = link->referrer,
                                                .kind = link->kind,
                                                .name = link->name,
                                                .thread = link->thread};
  }
  return count;
}

static int copy_rows(uint32_t kind, void *rows, uint32_t capacity) {
  if (!graph) return -ENODATA;
  switch (kind) {
    case MALLOMETER_OWNERS_HOLDS:
      return (int)hold_rows(rows, capacity);
    case MALLOMETER_OWNERS_OBJECTS:
      return (int)object_rows(rows, capacity);
    case MALLOMETER_OWNERS_LINKS:
      return (int)link_rows(rows, capacity);
    default:
      return -EINVAL;
  }
}

static int copy_name(uint32_t number, char *name, uint32_t bytes) {
  if (!graph) return -ENODATA;
  if (number >= graph->names) return -EINVAL;
  const char *text = graph->text + graph->name_at[number];
  size_t length = strlen(text);
  if (length >= bytes) length = bytes - 1;
  memcpy(name, text, length);
  name[length] = '\0';
  return 0;
}

static void describe(struct mallometer_owners *out) {
  struct owner_search_figures figures = owner_search_figures();
  out->samples = graph->blocks;
  out->samples_left_out = samples_left_out;
  for (uint32_t i = 0; i < graph->blocks; i++) out->samples_freed += is_freed(i);
  out->holds = graph->holds;
  out->objects = graph->objects;
  out->links = graph->links;
  out->left_out = graph->left_out;
  out->candidates = graph->candidates;
  out->pointers = graph->pointers;
  out->next_objects = figures.next;
  out->next_classes = figures.classes;
  out->pointers_error = pointers_error;
  out->walk_ns = figures.walk_ns;
}

static int end(void) {
  if (!graph) return -ENODATA;
  owner_search_end();
  memory_give_back(samples, bytes_of_samples);
  graph = NULL;
  samples = NULL;
  return 0;
}

/* ---- Interface ----------------------------------------------------------------------------------------- */

int owners_begin(uint32_t site) {
  if (!enter()) return -EBUSY;
  int result = graph ? -EBUSY : begin(site);
  leave();
  return result;
}

int owners_step(uint32_t wanted) {
  wait_and_enter();
  int result = step(wanted);
  leave();
  return result;
}

int owners_rows(uint32_t kind, void *rows, uint32_t capacity) {
  wait_and_enter();
  int result = copy_rows(kind, rows, capacity);
  leave();
  return result;
}

int owners_name(uint32_t number, char *name, uint32_t bytes) {
  wait_and_enter();
  int result = copy_name(number, name, bytes);
  leave();
  return result;
}

int owners_end(void) {
  wait_and_enter();
  int result = end();
  leave();
  return result;
}

void owners_describe(struct mallometer_owners *out) {
  wait_and_enter();
  if (graph) describe(out);
  leave();
}

size_t owners_footprint(void) {
  if (!__atomic_load_n(&graph, __ATOMIC_RELAXED)) return 0;
  return owner_search_footprint() + memory_whole_pages(bytes_of_samples);
}

void owners_forked(void) {
  is_busy = 0;
  graph = NULL;
  samples = NULL;
}
