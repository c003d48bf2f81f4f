/*
 * Page slots: a few sampled objects live on pages of their own, so that the kernel's accessed bit shows whether they
 * are used.
 *
 * When the allocator has returned an object and the sampler has picked it, the object's contents are copied to a slot,
 * and the allocator gets the object back. Slots therefore cost nothing on malloc's fast path. They cost nothing on
 * free's fast path either. Slots have low addresses, where the allocator puts no objects (allocator/bootstrap.h), and
 * the fast path compares each address with low_range_end anyway.
 *
 * Each slot has a record outside of the range, with one word for state and generation. A thread that frees an object
 * changes the state from IN_USE to LEAVING by compare-and-exchange, so a slot is given back only once even if its
 * object is freed twice. The generation differs for each object of a slot, so a new object is not mistaken for an
 * earlier one.
 *
 * Before each object is the header that glibc writes for an object with its own mapping. free, realloc and
 * malloc_usable_size therefore work if a library calls glibc's functions directly. glibc then unmaps or moves the
 * pages. The observing thread notices this later and retires the slot, which is then not used again. The pages of a
 * freed object return to the kernel, which clears them.
 *
 * Low addresses also shorten a read of smaps, because the read goes from the lowest address to the end of the slots.
 * JVMs use low addresses, too. If the free addresses do not suffice for all slots, the number of large slots is lower.
 *
 * Slots with odd numbers have the advice MADV_RANDOM, only to make each slot a mapping of its own in smaps. If the
 * process has many mappings, the mappings of free slots are given back (slot_limits.h).
 */
#ifndef MALLOMETER_LEAK_SLOTS_H
#define MALLOMETER_LEAK_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/visibility.h"
#include "sample/live_sample.h"

/* The number of slots. Each slot in use is a mapping of its own; a process may have 65,530 mappings by default. */
#define SLOTS 4096u

/* The largest alignment of an object in a slot, and the most bytes that are copied into one. */
#define SLOT_ALIGNMENT 2048u
#define SLOT_CONTENTS ((size_t)1 << 20)

/* Times of slots are in units of 2^16 ns. Allocations and the ends of epochs use the same coarse clock. An object
 * that is born after an access therefore never has an earlier time than the access. */
#define SLOT_TIME_SHIFT 16

/* The pages before the first slot are for tests of what the system can do. They are not accessible at first. */
#define PAGES_BEFORE_SLOTS 16u

/* The range of the slots. It is empty, at address 0, while there are no slots. */
extern HIDDEN uintptr_t slots_begin;
extern HIDDEN size_t slots_bytes;

static inline bool is_in_slots(const void *object) { return (uintptr_t)object - slots_begin < slots_bytes; }

/* Reserves the addresses of all slots and the table of struct slot, once. Returns NULL, or why that is impossible. Only
 * one thread may call this at a time. */
const char *slots_start(void);

/* Limits the number of slots that share no mapping with other slots. Such a slot takes at most two mappings: its
 * accessible and its inaccessible pages. The limit is 0 at first. */
void slots_bound(uint32_t most);

/* Merges the mappings of free slots. A merged slot becomes a mapping of its own again when it is used. Only one
 * thread may call this at a time. Threads that allocate meanwhile may find no slot. */
void slots_merge(void);

/* Returns the pages before the first slot; NULL while there are no slots. */
char *slots_pages_before(void);

size_t slots_footprint(void);
size_t slots_reserved(void);

/* ---- Taking slots and giving them back ----------------------------------------------------------------- */

/* Returns the class of slots for objects of this size; MALLOMETER_SLOT_CLASSES if they are too large for a slot. */
uint32_t slot_class(size_t size, size_t alignment);

/* Returns the bytes that an object takes in a slot beyond its size. */
size_t slot_excess(size_t size, size_t alignment);

/* Returns the share of a class's slots that is not in use, from 0 to 1. Returns 0 if each unused slot needs a new
 * mapping and the limit of slots_bound() is reached, because none of them can then be taken. */
double slots_left(uint32_t class);

size_t slots_excess(void);

struct slot_request {
  size_t size;
  /* A power of two. */
  size_t alignment;
  /* The usable size of the original object, as the allocator reports it. The object's copy in the slot has at most
   * this many usable bytes. */
  size_t usable;
  double placement;
  uint32_t random;
  struct live_sample sample;
};

/* Returns memory for an object on cleared pages; NULL if there is no slot for it. Preserves errno. */
void *slot_take(const struct slot_request *request);

struct slot_object {
  const void *object;
  uint32_t number;
  uint64_t generation;
  struct live_sample sample;
  double placement;
  /* Times in units of 2^SLOT_TIME_SHIFT ns. The last access is defined as in mallometer_object. */
  uint64_t last_access;
  uint64_t born;
  bool unseen;
};

/* Disowns the object in a slot: from then on it has no call site and is not a sample. Returns whether the caller must
 * count the sample as freed; if false, another thread does so. */
bool slot_disown(const struct slot_object *object);

/* Takes an object out of its slot. Returns false if there is no such object, or if another thread is freeing it. */
bool slot_remove(const void *object, struct slot_object *removed);

/* Clears the slot's pages and releases the slot for other objects. Preserves errno. */
void slot_give_back(const struct slot_object *removed);

/* slot_usable() returns the bytes that the program may use. slot_capacity() returns the bytes whose contents a
 * realloc must copy. Both return 0 if there is no such object. */
size_t slot_usable(const void *object);
size_t slot_capacity(const void *object);

/* ---- Observation ------------------------------------------------------------------------------------------ */

/* slot_opened() returns the accessible bytes of a slot. */
uintptr_t slot_address(uint32_t number);
size_t slot_opened(uint32_t number);

uint32_t slot_number(const void *object);

bool slot_read(uint32_t number, struct slot_object *object);

/* Sets the time of an object's last access. Has no effect if the slot no longer has this object. */
void slot_touched(const struct slot_object *object, uint64_t time);

/* Sets whether accesses to the object can be seen (true at first). Only one thread may call this at a time. */
void slot_show(const struct slot_object *object, bool seen);

/* Retires a slot whose pages were unmapped: the slot is not used again. Returns false if the slot no longer has this
 * object. */
bool slot_retire(const struct slot_object *object);

void slots_accept(bool open);
bool slots_are_accepted(void);

struct slots_totals {
  uint32_t in_use[MALLOMETER_SLOT_CLASSES];
  uint32_t slots[MALLOMETER_SLOT_CLASSES];
  uint32_t apart;       /* the number of slots that are mappings of their own */
  uint64_t taken_bytes; /* the total size of the pages that objects in slots take */
  uint64_t retired;
  uint64_t retired_bytes; /* bytes that glibc unmapped in retired slots; pages that it added there count as negative */
};

struct slots_totals slots_totals(void);

/* Returns the bytes of the objects in slots, and sets `objects` to their number. */
uint64_t slots_counted_bytes(uint64_t *objects);

uint32_t slots_copy(struct mallometer_object *objects, uint32_t capacity, const struct object_filter *filter);

#endif
