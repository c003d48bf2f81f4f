/*
 * Page slots: where a few sampled objects live, each on pages of its own, so that the kernel's accessed bit tells
 * whether anybody uses them .
 *
 * An object moves after the fact: the allocator has served the request, the sampler has picked it, and only then does a
 * slot take its place and the object goes back to the allocator. So the fast path knows nothing of slots. Nor does
 * free: the slots lie in one range of low addresses, below which the fast path expects nothing usual anyway
 * (allocator/bootstrap.h), and one comparison sends them where they are known.
 *
 * Each slot has a record outside of the range, with a word of state and generation that only compare-and-exchange
 * changes. Whoever frees an object has to bring that word from IN_USE to LEAVING first, so an object that is freed
 * twice is given back once; whoever looks at a slot names the generation that it saw, so it cannot take a new object
 * for the one before.
 *
 * In front of each object stands what glibc writes in front of an object that it has mapped singly, so that free,
 * realloc and malloc_usable_size work too when a library calls glibc's own: glibc unmaps or moves the pages then, and
 * the slot is retired when that is noticed. Pages become accessible as objects need them and are given back to the
 * kernel when the object is freed, which also clears them for the next.
 *
 * The range has to be low because smaps is read no farther than it reaches; JVMs have their own use for low addresses
 * (classes, small heaps), so where there is no room for all slots there are fewer large ones.
 *
 * So that each slot is a mapping of its own in smaps, slots of odd number are advised to be read at random, which
 * means nothing to memory like this. A process may have so many mappings only; where it has many, those of free slots
 * are given back.
 */
#ifndef MALLOMETER_LEAK_SLOTS_H
#define MALLOMETER_LEAK_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/visibility.h"
#include "sample/live_sample.h"

/* The most there are. Each that is in use is a mapping of its own, of which a process may have 65,530 by default. */
#define SLOTS 4096u

/* An object that must be aligned to more stays where it is, and so does one with more contents than this to copy. */
#define SLOT_ALIGNMENT 2048u
#define SLOT_CONTENTS ((size_t)1 << 20)

/* Times of slots are counted in units of 2^16 ns, all by the coarse clock: what is born later has no earlier birth. */
#define SLOT_TIME_SHIFT 16

/* Pages before the first slot, for whoever tries out what the system can do. Not open at first. */
#define PAGES_BEFORE_SLOTS 16u

/* The range that holds the slots; empty, at address 0, without them. */
extern HIDDEN uintptr_t slots_begin;
extern HIDDEN size_t slots_bytes;

static inline bool is_in_slots(const void *object) { return (uintptr_t)object - slots_begin < slots_bytes; }

/*
 * Reserves the range and the records, once. NULL, or why that is impossible here. Not for several threads at once.
 */
const char *slots_start(void);

/* No more slots than this are to be mappings of their own, of which one takes two, at most. None until this is said. */
void slots_bound(uint32_t most);

/*
 * Lets free slots be no mappings of their own until they are used again, within the bound. By one thread; others that
 * allocate meanwhile may find no slot.
 */
void slots_merge(void);

/* The pages before the first slot; NULL without slots. */
char *slots_pages_before(void);

/* Bytes of records, and how far addresses are reserved. */
size_t slots_footprint(void);
size_t slots_reserved(void);

/* ---- Taking and giving back ---------------------------------------------------------------------------- */

/* The class whose slots hold objects of this size, or MALLOMETER_SLOT_CLASSES. */
uint32_t slot_class(size_t size, size_t alignment);

/* How much more memory an object of this size takes in a slot than it has bytes. */
size_t slot_excess(size_t size, size_t alignment);

/* What is left of a class, from 1 to 0; 0 too while no slot may become a mapping of its own. */
double slots_left(uint32_t class);

/* What all objects in slots take beyond their bytes, in whole pages. */
size_t slots_excess(void);

struct slot_request {
  size_t size;
  /* A power of two. */
  size_t alignment;
  /* As much of it as the allocator's object has is usable. */
  size_t usable;
  double placement;
  uint32_t random;
  struct live_sample sample;
};

/* An object on cleared pages; NULL if there is no slot for it. Keeps errno. */
void *slot_take(const struct slot_request *request);

/* An object that leaves its slot, or whose use is being looked at. */
struct slot_object {
  const void *object;
  uint32_t number;
  uint64_t generation;
  struct live_sample sample;
  double placement;
  /* In units of 2^SLOT_TIME_SHIFT ns; of the last access as in mallometer_object. */
  uint64_t last_access;
  uint64_t born;
  /* Of its use nothing is known: slot_show(). */
  bool unseen;
};

/*
 * The object stays, and is no sample any more: it has no site. False if it was disowned before, or is freed: then
 * somebody else counts the sample as freed, otherwise the caller does.
 */
bool slot_disown(const struct slot_object *object);

/* False if there is no such object, or somebody frees it already. */
bool slot_remove(const void *object, struct slot_object *removed);

/* Clears its pages. The slot may be another's from here on. Keeps errno. */
void slot_give_back(const struct slot_object *removed);

/* Bytes that the program may use, and those that are there (what a realloc has to keep). 0 if there is no such object.
 */
size_t slot_usable(const void *object);
size_t slot_room(const void *object);

/* ---- For who looks at them ----------------------------------------------------------------------------- */

/* Where a slot begins, and how much of it is accessible. */
uintptr_t slot_address(uint32_t number);
size_t slot_opened(uint32_t number);

/* The slot that an address lies in. */
uint32_t slot_number(const void *object);

/* False if it is not in use. */
bool slot_look(uint32_t number, struct slot_object *object);

/* Notes that the object was touched until then. Nothing happens if it is gone. */
void slot_touched(const struct slot_object *object, uint64_t time);

/* Whether the use of the object can be seen; it can, until this is said. By one thread. */
void slot_show(const struct slot_object *object, bool seen);

/* The slot's pages were unmapped: nobody may have them any more. False if the object is gone. */
bool slot_retire(const struct slot_object *object);

/* New objects go into slots, or not. */
void slots_accept(bool open);
bool slots_are_accepted(void);

struct slots_totals {
  uint32_t in_use[MALLOMETER_SLOT_CLASSES];
  uint32_t slots[MALLOMETER_SLOT_CLASSES];
  uint32_t apart;       /* that are mappings of their own */
  uint64_t taken_bytes; /* whole pages of objects in slots */
  uint64_t retired;
  uint64_t retired_bytes; /* that glibc has unmapped, and had never mapped; modulo 2^64 */
};

struct slots_totals slots_totals(void);

/* What was counted of the objects that are in slots, and how many these are. */
uint64_t slots_counted_bytes(uint64_t *objects);

/* Writes a row for each object in a slot, as the ABI shows it; returns how many. */
uint32_t slots_copy(struct mallometer_object *objects, uint32_t capacity, const struct object_filter *filter);

#endif
