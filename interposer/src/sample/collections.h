/*
 * Counts the garbage collections of the JVM, and recognizes cleaners: threads that free native memory of unreachable
 * Java objects. Each free of a sample records whether a cleaner freed the object, and how many collections began during
 * the object's life.
 *
 * A cleaner waits for references of unreachable objects, in ReferenceQueue.remove() or as HotSpot's reference handler.
 * When a thread first frees a sample, the library stores the JVM's handle of the thread. Later src/jvm looks at the
 * thread's stack to see whether it waits (jvm/cleaners.h). Until then the thread does not count as a cleaner.
 */
#ifndef MALLOMETER_SAMPLE_COLLECTIONS_H
#define MALLOMETER_SAMPLE_COLLECTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct thread_block;

/* Pointers to the JVM's own counters of collections. The JVM counts a collection or a pause when it begins. */
struct collection_counters {
  const volatile int64_t *young;
  const volatile int64_t *full;
  /* Counts the pauses of concurrent collections (cycles) of the old generation. Each cycle has pauses_in_cycle
   * pauses. */
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

/* Returns the numbers of collections so far; 0 if the JVM's counters of collections are unknown. If a collection of
 * the old generation is seen for the first time, stores the time for collection_seen_ns(). */
struct collections collections_now(void);

/* Returns when collections_now() first saw the old generation's collection with this number, by the coarse clock; 0
 * if unknown. */
uint64_t collection_seen_ns(uint32_t old);

/* Returns whether the latest collection of the old generation has just begun: collections_now() first saw it at most
 * 5 s ago, and at most one further collection of any kind has begun since then. */
bool collection_just_began(struct collections now);

/* Returns whether the JVM counts a collection of the old generation only after its marking (G1). */
bool collections_mark_first(void);

/*
 * Returns whether an object may have been allocated while the JVM was marking for collection number `old` of the old
 * generation. The collection keeps such an object even if it is unreachable. The marking is assumed to take the last 2
 * s before the collection was first seen. Returns false if this time is unknown, or if collections_mark_first() is
 * false.
 */
bool allocated_while_marking(uint64_t born_ns, uint32_t old);

/* Returns whether the calling thread is known to be a cleaner. If the JVM's counters are known, the first call in a
 * thread stores the JVM's handle of the thread for cleaner_candidate(). */
bool is_cleaner_thread(void);

/* Returns the JVM's handle of a thread that may be a cleaner and whose stack must still be checked; NULL if there is
 * nothing to check. */
void *cleaner_candidate(struct thread_block *block);
/* Records whether the candidate waits for references. A thread that was seen seven times without waiting is no
 * cleaner. */
void cleaner_seen(struct thread_block *block, const void *candidate, bool waits_for_references);

#endif
