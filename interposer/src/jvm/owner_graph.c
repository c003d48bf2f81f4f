/* Tables that grow until the search ends. See owner_graph.h. */
#include "jvm/owner_graph.h"

#include <string.h>

#include "platform/memory.h"
#include "platform/sorted.h"

struct owner_graph *owner_graph_start(void) {
  if (memory_shortage(sizeof(struct owner_graph))) return NULL;
  return memory_reserve(sizeof(struct owner_graph));
}

void owner_graph_end(struct owner_graph *graph) { memory_give_back(graph, sizeof *graph); }

int owner_graph_block_at(const struct owner_graph *graph, uint64_t address) {
  uint32_t count = graph->blocks;
  if (count == 0 || address < graph->block[0].begin || address >= graph->block[count - 1].end) return -1;
  size_t behind = rows_up_to(graph->block, count, sizeof *graph->block, address);
  return address < graph->block[behind - 1].end ? (int)behind - 1 : -1;
}

struct owner_hold *owner_graph_add_hold(struct owner_graph *graph, uint32_t object) {
  if (graph->holds == MOST_HOLDS) {
    graph->left_out++;
    return NULL;
  }
  struct owner_hold *hold = &graph->hold[graph->holds++];
  *hold = (struct owner_hold){.object = object, .class_name = NO_NAME, .field_name = NO_NAME};
  if (object != NO_HEAP_OBJECT) {
    hold->next = graph->object[object].first_hold;
    graph->object[object].first_hold = graph->holds;
  }
  return hold;
}

uint32_t owner_graph_add_object(struct owner_graph *graph, uint32_t level) {
  if (graph->objects == MOST_HEAP_OBJECTS) {
    graph->left_out++;
    return NO_HEAP_OBJECT;
  }
  graph->object[graph->objects] = (struct heap_object){.level = level, .class_name = NO_NAME};
  return graph->objects++;
}

/* ---- Links --------------------------------------------------------------------------------------------- */

static bool is_known(const struct owner_graph *graph, const struct heap_link *link) {
  for (uint32_t at = graph->object[link->object].first_link; at != 0; at = graph->link[at - 1].next) {
    const struct heap_link *known = &graph->link[at - 1];
    if (known->referrer == link->referrer && (link->referrer == NO_HEAP_OBJECT || known->kind == link->kind))
      return true;
  }
  return false;
}

void owner_graph_add_link(struct owner_graph *graph, const struct heap_link *link) {
  struct heap_object *object = &graph->object[link->object];
  if (is_known(graph, link)) return;
  if (object->referrers == MOST_REFERRERS || graph->links == MOST_HEAP_LINKS) {
    graph->left_out += graph->links == MOST_HEAP_LINKS;
    object->has_more = true;
    return;
  }
  object->referrers++;
  graph->link[graph->links] = *link;
  graph->link[graph->links++].next = object->first_link;
  object->first_link = graph->links;
}

/* ---- Candidates ---------------------------------------------------------------------------------------- */

void owner_graph_add_candidate(struct owner_graph *graph, uint64_t value, bool is_of_thread) {
  uint32_t place = (uint32_t)(value * 0x9e3779b97f4a7c15u >> 40) % CANDIDATE_PLACES;
  while (graph->candidate[place] != 0 && graph->candidate[place] != value) place = (place + 1) % CANDIDATE_PLACES;
  if (graph->candidate[place] == value) {
    graph->is_of_thread[place] &= is_of_thread;
    return;
  }
  if (graph->candidates == MOST_CANDIDATES) {
    graph->left_out++;
    return;
  }
  graph->candidate[place] = value;
  graph->is_of_thread[place] = is_of_thread;
  graph->candidates++;
}

/* ---- Names --------------------------------------------------------------------------------------------- */

uint32_t owner_graph_name(struct owner_graph *graph, const char *text) {
  for (uint32_t i = graph->names; i-- > 0;) {
    if (strcmp(graph->text + graph->name_at[i], text) == 0) return i;
  }
  size_t bytes = strlen(text) + 1;
  if (graph->names == MOST_NAMES || graph->text_used + bytes > NAME_TEXT_BYTES) return NO_NAME;
  memcpy(graph->text + graph->text_used, text, bytes);
  graph->name_at[graph->names] = graph->text_used;
  graph->text_used += (uint32_t)bytes;
  return graph->names++;
}

/* ---- Pointers ------------------------------------------------------------------------------------------ */

static bool is_before(const void *left, const void *right) {
  const struct owner_pointer *one = left, *other = right;
  return one->value != other->value ? one->value < other->value : one->block < other->block;
}

void owner_graph_sort_pointers(struct owner_graph *graph) {
  struct owner_pointer *pointers = graph->pointer, row;
  uint32_t kept = 0;
  sort_rows(pointers, graph->pointers, sizeof row, &row, is_before);
  for (uint32_t i = 0; i < graph->pointers; i++) {
    struct owner_pointer *last = kept > 0 ? &pointers[kept - 1] : NULL;
    if (last && !is_before(last, &pointers[i])) {
      if (pointers[i].steps < last->steps) last->steps = pointers[i].steps;
    } else {
      pointers[kept++] = pointers[i];
    }
  }
  graph->pointers = kept;
}

uint32_t owner_graph_pointers_at(const struct owner_graph *graph, uint64_t value, uint32_t *first) {
  uint32_t end = (uint32_t)rows_up_to(graph->pointer, graph->pointers, sizeof *graph->pointer, value);
  for (*first = end; *first > 0 && graph->pointer[*first - 1].value == value;) --*first;
  return end - *first;
}
