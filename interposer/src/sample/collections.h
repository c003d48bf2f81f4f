/*
 * The garbage collections of the JVM, and the threads that free native memory of unreachable Java objects (cleaners).
 * Each free of a sample records whether a cleaner freed the object, and how many collections began during the
 * object's life.
 *
 * A cleaner is a thread that waits for references of unreachable objects, in ReferenceQueue.remove() or as HotSpot's
 * reference handler. A thread announces itself when it first frees a sample; later, while it waits, src/jvm looks at
 * its stack (jvm/cleaners.h). Frees before that look count as frees of other threads.
 */
#ifndef MALLOMETER_SAMPLE_COLLECTIONS_H
#define MALLOMETER_SAMPLE_COLLECTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct thread_block;

/*
 * The JVM's counters of collections, in its memory. It counts a young or full collection, or a pause, when it begins.
 */
struct collection_counters {
  const volatile int64_t *young;
  const volatile int64_t *full;
  /* The pauses of concurrent cycles, which collect the old generation; and how many pauses a cycle has. */
  const volatile int64_t *pauses;
  int64_t pauses_in_cycle;
};

/* G1 counts two pauses in a cycle, the remark and the cleanup. Both come after the marking. */
enum { PAUSES_OF_G1 = 2 };

/* The numbers of collections that have begun: of the old generation, and of all. */
struct collections {
  uint32_t old;
  uint32_t all;
};

/* Sets the counters, which must stay readable until the process ends; NULL if there are none. */
void collections_set(const struct collection_counters *counters);
bool collections_known(void);

/* Returns the numbers of collections so far; 0 without counters. The first call after an old collection began stores
 * the time for collection_seen_ns(). */
struct collections collections_now(void);

/* Returns when the old collection with this number was first seen, by the coarse clock; 0 if unknown. */
uint64_t collection_seen_ns(uint32_t old);

/* Returns whether the latest old collection was first seen at most 5 s ago, and at most one other collection has begun
 * since. */
bool collection_just_began(struct collections now);

/* Returns whether the JVM counts a collection of the old generation only after its marking (G1). */
bool collections_mark_first(void);

/*
 * Returns whether an object may have been allocated while this old collection marked, that is, at most 2 s before the
 * collection was first seen. Such an object survives the collection even if it is unreachable. Returns false if the
 * time is unknown, or the JVM counts collections before they mark.
 */
bool allocated_while_marking(uint64_t born_ns, uint32_t old);

/* Returns whether the calling thread is known as a cleaner. The first call in a thread asks the JVM for the thread's
 * handle (java_gate.h), if the counters of collections are known, and stores it for cleaner_candidate(). */
bool is_cleaner_thread(void);

/* Returns the handle that is_cleaner_thread() stored for the block's thread; NULL if there is none, or if it is
 * already known whether that thread is a cleaner. */
void *cleaner_candidate(struct thread_block *block);
/* Records whether the candidate waits for references. A thread that was seen seven times without waiting is no
 * cleaner. */
void cleaner_seen(struct thread_block *block, const void *candidate, bool waits_for_references);

#endif
