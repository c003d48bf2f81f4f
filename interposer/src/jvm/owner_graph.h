/*
 * The result of a search for owners (owner_search.h): the Java objects that hold the addresses of native blocks, and
 * the objects, fields and roots that refer to these objects.
 *
 * All tables lie in one reserved mapping and are written while the JVM is stopped, so only owner_graph_start() and
 * owner_graph_end() allocate, lock or make system calls.
 */
#ifndef MALLOMETER_JVM_OWNER_GRAPH_H
#define MALLOMETER_JVM_OWNER_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  MOST_OWNED = 4096,
  MOST_HOLDS = 16384,
  MOST_HEAP_OBJECTS = 32768,
  MOST_HEAP_LINKS = 65536,
  MOST_CANDIDATES = 65536,
  CANDIDATE_PLACES = 2 * MOST_CANDIDATES,
  MOST_POINTERS = 65536,
  MOST_NAMES = 8192,
  NAME_TEXT_BYTES = 1 << 20,
  /* If an object has more referrers, `has_more` is set. */
  MOST_REFERRERS = 4
};

#define NO_NAME UINT32_MAX
#define NO_HEAP_OBJECT UINT32_MAX

/* A live native block whose owners are sought. The blocks are sorted and do not overlap. */
struct owned_block {
  uint64_t begin, end;
  /* Whether the block lies so low that ordinary numbers often look like addresses in it. A Java long then counts in
   * two cases only: it is the address of the block's first byte, or the Java class that contains the long is known
   * to keep addresses in longs. */
  bool is_low;
};

/* A Java long that is the address of a block, or of a structure that leads to the block. */
struct owner_hold {
  int64_t class_tag;
  uint32_t block;
  uint32_t object; /* NO_HEAP_OBJECT: a static field of the class */
  int32_t field;   /* JVMTI's number of the field; below 0: an element of an array */
  uint32_t steps;  /* native pointers between the Java long and the block; 0: the long points into the block */
  uint32_t class_name, field_name;
  uint32_t next; /* 1 + the index in owner_graph.hold of the next entry with the same `object`; 0: none */
};

struct heap_object {
  uint32_t level; /* number of links between this object and the object that holds a block's address */
  uint32_t class_name;
  uint32_t kinds;      /* enum mallometer_heap_object_kinds */
  uint32_t first_link; /* 1 + the index in owner_graph.link of the first reference to this object; 0: none */
  uint32_t first_hold; /* 1 + the index in owner_graph.hold of the first entry for this object; 0: none */
  /* 1 + the number of an entry; 0: none. An entry is a root or object that refers from outside to a chain of
   * objects, such as the nodes of a queue ("Chains" in owner_search.c). An object of a chain stores the entry
   * through which it was reached. An object that is an entry stores its own entry number. */
  uint32_t entry;
  uint8_t referrers;
  bool is_followed, is_reached, is_expanded, has_more;
  bool has_new_link; /* whether a reference from this object has no name yet */
};

struct heap_link {
  uint32_t object, referrer; /* numbers of objects; `referrer` is NO_HEAP_OBJECT if a root refers to the object */
  uint32_t kind;             /* jvmtiHeapReferenceKind */
  uint32_t name;
  int32_t field;
  uint32_t method;
  uint64_t thread;
  uint32_t next; /* 1 + the number of the next link to the same object; 0: none */
};

/* A Java long (`value`) that is the address of a native structure. A path of `steps` pointers leads from the
 * structure to the block. */
struct owner_pointer {
  uint64_t value;
  uint32_t block, steps;
};

struct owner_graph {
  uint32_t blocks, holds, objects, links, candidates, pointers, names, left_out;
  uint32_t text_used;
  struct owned_block block[MOST_OWNED];
  struct owner_hold hold[MOST_HOLDS];
  struct heap_object object[MOST_HEAP_OBJECTS];
  struct heap_link link[MOST_HEAP_LINKS];
  uint64_t candidate[CANDIDATE_PLACES]; /* a set of values, with open addressing; 0: free */
  bool is_of_thread[CANDIDATE_PLACES];  /* whether only fields of java.lang.Thread objects contain this candidate */
  struct owner_pointer pointer[MOST_POINTERS];
  bool is_held[MOST_OWNED];
  uint32_t name_at[MOST_NAMES];
  char text[NAME_TEXT_BYTES];
};

/* Returns NULL if there is no memory, or if a memory limit leaves too little. */
struct owner_graph *owner_graph_start(void);
void owner_graph_end(struct owner_graph *graph);

/* Returns the number of the block that contains an address; -1 if there is none. */
int owner_graph_block_at(const struct owner_graph *graph, uint64_t address);

/* Adds a Java long that leads to a block. `object` is the number of the object that contains the long, or
 * NO_HEAP_OBJECT if the long is in a static field. Returns NULL if there is no room. */
struct owner_hold *owner_graph_add_hold(struct owner_graph *graph, uint32_t object);

/* Adds an object; returns NO_HEAP_OBJECT if there is no room. */
uint32_t owner_graph_add_object(struct owner_graph *graph, uint32_t level);

/* Records a link (a reference to an object), unless the object already has an equal link. Links from roots count as
 * equal to each other. Two other links are equal if they have the same referrer and the same kind. */
void owner_graph_add_link(struct owner_graph *graph, const struct heap_link *link);

void owner_graph_add_candidate(struct owner_graph *graph, uint64_t value, bool is_of_thread);

/* Returns the number of a text, and stores the text if it is new; NO_NAME if there is no room. */
uint32_t owner_graph_name(struct owner_graph *graph, const char *text);

/* Sorts the pointers by value. Of several pointers with the same value and block, keeps only the one with the
 * shortest path to the block (the fewest `steps`). */
void owner_graph_sort_pointers(struct owner_graph *graph);

/* Returns the number of pointers with this value, and sets `first` to the index of the first one. */
uint32_t owner_graph_pointers_at(const struct owner_graph *graph, uint64_t value, uint32_t *first);

#endif
