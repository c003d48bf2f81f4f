/* Tests the tables that the search for the Java owners of native memory fills while the JVM is stopped. Their sizes are
 * fixed, and entries that find no room are counted. */
#include <string.h>

#include "jvm/owner_graph.h"
#include "platform/given.h"

static struct owner_graph *start(void) {
  struct owner_graph *graph = owner_graph_start();
  CHECK(graph);
  return graph;
}

CASE(an_address_lies_in_one_block_or_in_none) {
  struct owner_graph *graph = start();
  CHECK_EQUAL(owner_graph_block_at(graph, 100), -1);
  graph->block[0] = (struct owned_block){100, 116, false};
  graph->block[1] = (struct owned_block){116, 200, false};
  graph->block[2] = (struct owned_block){300, 301, false};
  graph->blocks = 3;
  CHECK_EQUAL(owner_graph_block_at(graph, 99), -1);
  CHECK_EQUAL(owner_graph_block_at(graph, 100), 0);
  CHECK_EQUAL(owner_graph_block_at(graph, 115), 0);
  CHECK_EQUAL(owner_graph_block_at(graph, 116), 1);
  CHECK_EQUAL(owner_graph_block_at(graph, 200), -1);
  CHECK_EQUAL(owner_graph_block_at(graph, 300), 2);
  CHECK_EQUAL(owner_graph_block_at(graph, 301), -1);
  owner_graph_end(graph);
}

CASE(an_object_has_four_referrers_each_once) {
  struct owner_graph *graph = start();
  uint32_t object = owner_graph_add_object(graph, 0);
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t referrer = 1; referrer <= MOST_REFERRERS; referrer++) {
      owner_graph_add_link(graph, &(struct heap_link){.object = object, .referrer = referrer, .kind = 2});
    }
  }
  CHECK_EQUAL(graph->links, MOST_REFERRERS);
  CHECK(!graph->object[object].has_more);
  owner_graph_add_link(graph, &(struct heap_link){.object = object, .referrer = 9, .kind = 2});
  CHECK_EQUAL(graph->links, MOST_REFERRERS);
  CHECK(graph->object[object].has_more);
  owner_graph_end(graph);
}

CASE(one_root_takes_one_place) {
  struct owner_graph *graph = start();
  uint32_t object = owner_graph_add_object(graph, 0);
  for (uint32_t kind = 21; kind < 26; kind++) {
    owner_graph_add_link(graph, &(struct heap_link){.object = object, .referrer = NO_HEAP_OBJECT, .kind = kind});
  }
  CHECK_EQUAL(graph->links, 1);
  owner_graph_end(graph);
}

CASE(full_tables_count_what_they_leave_out) {
  struct owner_graph *graph = start();
  for (uint32_t i = 0; i < MOST_HEAP_OBJECTS; i++) CHECK(owner_graph_add_object(graph, 0) == i);
  CHECK(owner_graph_add_object(graph, 0) == NO_HEAP_OBJECT);
  for (uint32_t i = 0; i < MOST_HOLDS; i++) CHECK(owner_graph_add_hold(graph, NO_HEAP_OBJECT));
  CHECK(!owner_graph_add_hold(graph, NO_HEAP_OBJECT));
  for (uint64_t i = 1; i <= MOST_CANDIDATES + 1; i++) owner_graph_add_candidate(graph, i << 20, false);
  owner_graph_add_candidate(graph, 1 << 20, false); /* is in the table already */
  CHECK_EQUAL(graph->candidates, MOST_CANDIDATES);
  CHECK_EQUAL(graph->left_out, 3);
  owner_graph_end(graph);
}

CASE(names_are_kept_once_as_far_as_there_is_room) {
  struct owner_graph *graph = start();
  static char name[600];
  CHECK_EQUAL(owner_graph_name(graph, "a"), 0);
  CHECK_EQUAL(owner_graph_name(graph, "b"), 1);
  CHECK_EQUAL(owner_graph_name(graph, "a"), 0);
  memset(name, 'x', sizeof name - 1);
  uint32_t kept = 0;
  for (int i = 0; i < 4000; i++) {
    snprintf(name, sizeof name, "%06d", i);
    name[6] = 'x';
    kept += owner_graph_name(graph, name) != NO_NAME;
    name[7] = 'x';
  }
  CHECK(kept < 4000 && graph->text_used <= NAME_TEXT_BYTES);
  CHECK(strcmp(graph->text + graph->name_at[1], "b") == 0);
  owner_graph_end(graph);
}

CASE(pointers_are_found_by_their_value_each_block_once) {
  struct owner_graph *graph = start();
  static const struct owner_pointer given[] = {{7, 2, 3}, {5, 1, 1}, {7, 2, 2}, {7, 1, 1}, {5, 1, 2}};
  memcpy(graph->pointer, given, sizeof given);
  graph->pointers = 5;
  owner_graph_sort_pointers(graph);
  CHECK_EQUAL(graph->pointers, 3);
  uint32_t first;
  CHECK_EQUAL(owner_graph_pointers_at(graph, 5, &first), 1);
  CHECK_EQUAL(graph->pointer[first].steps, 1);
  CHECK_EQUAL(owner_graph_pointers_at(graph, 7, &first), 2);
  CHECK_EQUAL(graph->pointer[first + 1].block, 2);
  CHECK_EQUAL(graph->pointer[first + 1].steps, 2);
  CHECK_EQUAL(owner_graph_pointers_at(graph, 6, &first), 0);
  owner_graph_end(graph);
}

int main(void) {
  RUN(an_address_lies_in_one_block_or_in_none);
  RUN(an_object_has_four_referrers_each_once);
  RUN(one_root_takes_one_place);
  RUN(full_tables_count_what_they_leave_out);
  RUN(names_are_kept_once_as_far_as_there_is_room);
  RUN(pointers_are_found_by_their_value_each_block_once);
  return 0;
}
