/*
 * mallometer: counts every malloc and free of a process.
 *
 * The library is loaded with LD_PRELOAD and counts from the start, or it is loaded by dlopen and counts from
 * mallometer_attach() on. This header is its only public interface (the ABI); the Java bridge uses nothing else. The
 * header compiles as C99 and as C++17.
 *
 * Definitions used throughout:
 *
 * - event: An allocation or a free. A successful malloc, calloc, memalign, ... is one allocation. free(p) with p !=
 *   NULL is one free. A successful realloc(p, n) with p != NULL is one free and one allocation, also when the object
 *   stays in place. realloc(NULL, n) is one allocation. realloc(p, 0) that returns NULL and frees p is one free. A call
 *   that fails is only counted as failed. (When C++'s new fails, the C++ library tries again: each try counts.)
 *   free(NULL) is no event.
 * - requested bytes: The bytes that callers ask for. They are counted for allocations only, because free() does not
 *   learn the requested size.
 * - allocated, freed and live bytes: The bytes that the allocator has handed out, has taken back, and has handed out
 *   but not taken back. All three have the unit mallometer_report.byte_unit. Without an attach, live bytes are the
 *   difference of the other two. After an attach, see mallometer_counters.live_bytes.
 * - size class: Allocations are divided into classes by requested size. Class 0 holds sizes up to 16 B, and each
 *   further class doubles this limit (32 B, 64 B, ...), up to class 18 with 4 MiB. Class 19 holds all larger sizes.
 * - small: A requested size of at most 4096 bytes, the page size (classes 0 to 8). All other sizes are large.
 * - slot: One or more pages that hold a single sampled object, so that the library can see accesses to the object.
 * - epoch: The time between two readings of accesses. An access counts as made at the end of its epoch.
 *
 * Counters start with the process or with mallometer_attach(), only grow, wrap at 2^64, and are never reset. A bracket
 * is the difference of two snapshots, taken before and after a piece of work (mallometer_difference).
 *
 * Versioning: a program may call a library only if mallometer_abi_version() returns the MALLOMETER_ABI_VERSION that the
 * program was compiled with. mallometer_available() (mallometer_optional.h) compares the two.
 *
 * Unless a function says otherwise it may be called from any thread and from signal handlers, does not allocate, takes
 * no lock, leaves errno alone, and returns 0 or a negative errno value. -EINVAL means that a required pointer is NULL.
 * -ENODATA ("not counting") means that the library is neither preloaded nor attached, or that the program is excluded
 * or unsupported (enum mallometer_state). A function that copies rows copies at most `capacity` rows and returns their
 * number.
 *
 * Texts are NUL-terminated. Points in time (_ns) are of CLOCK_MONOTONIC in nanoseconds unless stated otherwise.
 */
#ifndef MALLOMETER_H
#define MALLOMETER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The checksum of the declarations below: the build fails if it differs (interposer/abi/GenerateAbi.java). */
#define MALLOMETER_ABI_VERSION 0x7b91af61u
#define MALLOMETER_SIZE_CLASSES 20
#define MALLOMETER_FIRST_LARGE_CLASS 9 /* The first class that is not small. */

/* Whether the library counts, and if not, why. */
enum mallometer_state {
  MALLOMETER_STATE_COUNTING = 1,
  MALLOMETER_STATE_DISABLED = 2, /* Switched off by MALLOMETER_ENABLED=false or mallometer_disable(). */
  /* The library is neither preloaded nor attached, or it runs beside a sanitizer's malloc: nothing is counted. */
  MALLOMETER_STATE_NOT_PRELOADED = 3,
  MALLOMETER_STATE_EXCLUDED = 4, /* MALLOMETER_ONLY does not name this executable: every call is only forwarded. */
  /* The program's C library is neither glibc nor musl: every call is only forwarded. */
  MALLOMETER_STATE_UNSUPPORTED = 5
};

/* The way in which the library came to count. */
enum mallometer_mode {
  MALLOMETER_MODE_NONE = 0,      /* The library does not count. */
  MALLOMETER_MODE_PRELOADED = 1, /* Loaded with LD_PRELOAD: counts since the process started. */
  MALLOMETER_MODE_ATTACHED = 2   /* Attached: counts since mallometer_attach(). */
};

/* The size with which an object counts in allocated, freed and live bytes. */
enum mallometer_byte_unit {
  MALLOMETER_UNIT_USABLE = 1, /* malloc_usable_size() of the object, read from the allocator at each event. */
  /* The usable size, read from glibc's chunk header. Before glibc 2.43, an object with its own mapping counts 8 bytes
   * more. */
  MALLOMETER_UNIT_GLIBC_CHUNK = 2,
  /* The requested size, stored in a header before the object (MALLOMETER_ACCOUNTING=header). */
  MALLOMETER_UNIT_REQUESTED = 3
};

/* Bits of mallometer_counters.flags. */
enum mallometer_snapshot_flags {
  /* Counting was off for some time, so live and peak bytes are unknown from then on. This flag is never cleared. */
  MALLOMETER_INCOMPLETE = 1u,
  /* The memory allocated before mallometer_attach() is unknown, so live_bytes may be too low by up to
   * baseline_error_bytes. */
  MALLOMETER_BASELINE_UNKNOWN = 2u
};

struct mallometer_counters {
  uint64_t monotonic_ns; /* CLOCK_MONOTONIC at the beginning of the reading, in nanoseconds. */
  uint32_t flags;        /* A set of mallometer_snapshot_flags. */
  uint32_t threads;      /* Live threads with at least one event. 1 in a thread snapshot. */
  /* The number of events; allocations are divided by size class. */
  uint64_t allocations[MALLOMETER_SIZE_CLASSES];
  uint64_t frees;
  uint64_t failed;
  /* The bytes of these events. */
  uint64_t requested_bytes;
  uint64_t allocated_bytes;
  uint64_t freed_bytes;
  /* The highest live bytes since the process started or was attached, and the largest possible error of peak_live_bytes
   * in either direction. After an attach, add baseline_error_bytes to peak_error_bytes, which does not include it. Both
   * fields are 0 in a thread snapshot. */
  uint64_t peak_live_bytes;
  uint64_t peak_error_bytes;
  /* The largest successful request since the process started. The value is 0 in a thread snapshot, and as long as no
   * request has exceeded 32 KiB. */
  uint64_t largest_request_bytes;
  uint64_t huge_allocations; /* Successful requests above MALLOMETER_HUGE bytes. 0 in a thread snapshot. */
  /* Time of the latest mallometer_attach(); 0 if counting began with the process, and in a thread snapshot. */
  uint64_t since_ns;
  /*
   * Live bytes, including objects from before mallometer_attach(); never negative. The value is 0 in a thread snapshot.
   * A difference of two snapshots has the value of the second snapshot.
   *
   * Without an attach, live_bytes is allocated_bytes - freed_bytes. After an attach over glibc, live_bytes is
   * baseline_bytes + allocated_bytes - freed_bytes + 8 * (allocations - frees), counted since the attach. The 8 bytes
   * are the size word of each object, which baseline_bytes includes.
   */
  uint64_t live_bytes;
  /*
   * Live bytes when the latest mallometer_attach() began to count, and the largest error of baseline_bytes. Both fields
   * are 0 without an attach. mallometer_attach_check() corrects both later, when threads are less busy. With
   * MALLOMETER_BASELINE_UNKNOWN, baseline_bytes is 0, and the true value is at most baseline_error_bytes.
   */
  uint64_t baseline_bytes;
  uint64_t baseline_error_bytes;
};

struct mallometer_report {
  uint32_t state;     /* enum mallometer_state */
  uint32_t byte_unit; /* enum mallometer_byte_unit */
  /*
   * Memory that the library has mapped for itself, resident or not: its image, the counters of threads, the tables of
   * call sites and of samples, the stacks of its threads, and slots_excess_bytes. Excludes the recording's file (page
   * cache) and addresses that are only reserved.
   */
  uint64_t footprint_bytes;
  /*
   * Nanoseconds that the library has spent in mallometer_snapshot(), in its own threads, and on samples. The time of
   * samples is estimated, because no exact clock may be read inside of malloc. The library counts the work for samples
   * in units, and multiplies the number of units by the time of a unit. A unit is one step of a stack walk, or other
   * work that takes about as long. Threads of the library measure the time of a unit; without such threads, 25 ns are
   * assumed.
   */
  uint64_t overhead_ns;
  /* Threads that share one slower set of counters, because at most 65,536 threads can have counters of their own. */
  uint64_t threads_without_block;
  /* Requests above this size, in bytes, count as huge_allocations (MALLOMETER_HUGE). */
  uint64_t huge_threshold_bytes;
  char build[32];     /* The library's version, such as "0.1.0-SNAPSHOT". */
  char allocator[64]; /* The allocator, such as "glibc 2.36" or "jemalloc 5.3.0". */
  /* The reason for the state, or the parts that are off and why; empty if all parts work. */
  char reason[160];
  uint64_t sample_interval_bytes; /* MALLOMETER_SAMPLE_INTERVAL, in bytes; 0 if nothing is sampled. */
  uint64_t samples;               /* Sampled allocations. */
  /* Unbiased estimate of allocated_bytes: the sum of the samples' weights. */
  uint64_t sampled_bytes;
  /* Allocations whose call path (return address, stack height and size class) found no room in the table of 16,384
   * call paths. Such an allocation is sampled with a probability that depends on its size alone. The sampler looks
   * up the path of only some allocations, on average at least one in 128. */
  uint64_t samples_without_path;
  /*
   * Samples whose call site found no room. There is room for 16,384 sites, and for 262,144 frames in their stacks;
   * outer frames that stacks have in common count once.
   *
   * When half of the sites or half of the frames are taken, a new site is created only for a sample that was taken with
   * probability 1, or that stands for at least 4 KiB. When three quarters are taken, the limit is 64 KiB instead.
   */
  uint64_t samples_without_site;
  /* Samples that the library did not follow until their free. Either there was no room to follow the sample, or a
   * later sample had the same address, so that the library must have missed the free. */
  uint64_t samples_not_followed;
  /* Sampled objects that are live, and known call sites. */
  uint32_t live_samples;
  uint32_t call_sites;
  /*
   * Samples whose stack was cut. The library stores at most 128 native frames and 512 Java frames. When half of the
   * room for call sites is taken (see samples_without_site), new stacks without Java frames are cut to 8 frames. When
   * three quarters are taken, they are cut to 7 frames, and so are new stacks with Java frames on which the JVM
   * allocates for itself, for example to define a class. A sampling interval of 1 to 8 cuts such stacks to their native
   * frames and 8 Java frames already when half of the room is taken.
   */
  uint64_t samples_truncated;
  /* Samples of Java threads without Java frames: the JVM returned none, or too little stack was left for the walk. */
  uint64_t samples_without_java;
  /* MALLOMETER_OVERHEAD_TARGET in millionths of one processor's CPU time; 0 if there is no target. */
  uint32_t overhead_target_ppm;
  /* The sampling probability of code that has allocated rarely so far, in millionths of its usual value. The library
   * lowers this probability when samples take more CPU time than overhead_target_ppm. */
  uint32_t sampling_share_ppm;
  /* The number of known Java methods, and of known loaded objects (executable, libraries). A method or an object is
   * known once it was in a stack. */
  uint32_t methods;
  uint32_t modules;
  /* enum mallometer_java_state */
  uint32_t java;
  uint32_t reserved;
  /* The tables of call sites, which are part of footprint_bytes. The tables are one mapping that the kernel does not
   * merge with other mappings. */
  uint64_t tables_bytes;
  /* Java frames without a name, because the table of 16,384 methods is full; and native frames without a name,
   * because the table of 1,024 modules is full. */
  uint64_t frames_without_method;
  uint64_t frames_without_module;
  /* Samples without a stack, which share one site. The thread ran on the stack of a coroutine or an alternate signal
   * stack, or too little of its own stack was left for the walk. */
  uint64_t samples_without_stack;
  uint32_t mode; /* enum mallometer_mode */
  /* Pointers in loaded objects that led to malloc or its family, and that mallometer_attach() redirected. */
  uint32_t words;
  /* While attached: the number of pointers to malloc or its family that the system did not let the library change.
   * After a detach: the number of pointers that still lead to the library. The library then only forwards the calls. */
  uint32_t words_refused;
  /* Calls that the loader rewrote into direct jumps (glibc.cpu.plt_rewrite). They are not counted, so no figure is
   * exact. */
  uint32_t calls_unseen;
  uint64_t since_ns; /* See mallometer_counters. */
  /* Nanoseconds for which the latest check of all pointers held the loader's lock, which blocks dlopen and dlsym. */
  uint64_t attach_lock_ns;
  /*
   * drift_bytes is the excess of glibc's own figure of live bytes over live_bytes, at the latest comparison in
   * mallometer_attach_check(). drift_bound_bytes is the largest difference that inexact readings can explain. It is the
   * sum of three errors: baseline_error_bytes of mallometer_counters; the error of the latest comparison, including
   * thread caches of malloc that could not be read; and 1,600 bytes for each thread, which glibc and the loader
   * allocate. A larger difference means that some calls are not seen, and `reason` says "incomplete". Both fields are 0
   * before the first comparison.
   */
  int64_t drift_bytes;
  uint64_t drift_bound_bytes;
  /*
   * slots_address and slots_reserved_bytes are the addresses reserved for slots, 0 if there are none. slots_taken_bytes
   * is the size of the pages of used slots. slots_excess_bytes is the part of slots_taken_bytes that the objects do not
   * fill; footprint_bytes includes it.
   */
  uint64_t slots_address;
  uint64_t slots_reserved_bytes;
  uint64_t slots_taken_bytes;
  uint64_t slots_excess_bytes;
  /* The number of ranges that mallometer_ranges() knows, at most 65,536, and the number of ranges that it has
   * forgotten for lack of room. The smallest ranges are forgotten first. */
  uint64_t ranges;
  uint64_t ranges_forgotten;
  /* Changes of ranges that the library missed, because another thread held the lock of the map of ranges for a
   * millisecond. After 64 missed changes in a row, over at least a second, no ranges are recorded until the next
   * mallometer_enable() or mallometer_attach(), and `reason` says so. */
  uint64_t ranges_missed;
  /* Mappings without a call site, because too many came at once. The library walks 50 stacks a second for mappings,
   * and up to 4,000 at once after a pause. */
  uint64_t ranges_without_site;
};

/* Whether stacks have Java frames. */
enum mallometer_java_state {
  /* MALLOMETER_STACKS does not request Java frames, or mallometer_jvm_attach() was not called. */
  MALLOMETER_JAVA_OFF = 0,
  MALLOMETER_JAVA_ON = 1,
  MALLOMETER_JAVA_GONE = 2 /* The JVM returns no frames, or its shutdown has begun. */
};

/* Whether the process records its last hour in a file that outlives it (docs/reference/recording.md). */
enum mallometer_recording_state {
  MALLOMETER_RECORDING_OFF = 0,
  MALLOMETER_RECORDING_ON = 1,
  MALLOMETER_RECORDING_FAILED = 2 /* Recording was requested and is off; `reason` says why. */
};

struct mallometer_recording_status {
  /* enum mallometer_recording_state */
  uint32_t state;
  uint32_t reserved;
  uint64_t life;    /* The run's number in the recording file's header; 0 while recording is off. */
  char path[1024];  /* The absolute path; empty while off. */
  char reason[256]; /* The reason of a failure. */
};

/* Whether the process writes the message that Kubernetes shows for an ended container (docs/reference/recording.md). */
struct mallometer_message_status {
  uint32_t state; /* 1: the message is on. 0: it is off, and `reason` says why if it was requested. */
  uint32_t reserved;
  char path[1024];  /* The requested path of the file; empty if no message was requested. */
  char reason[256]; /* The reason why the termination message is off. */
};

#define MALLOMETER_EVENT_FRAMES 16

/* A request above MALLOMETER_HUGE bytes, or above the size of a threshold (mallometer_threshold_open()). */
struct mallometer_event {
  /* The number of this request, from 1 on. mallometer_events() numbers the huge requests of the process.
   * mallometer_threshold_read() numbers the requests above a threshold since the threshold was opened. */
  uint64_t number;
  /* CLOCK_REALTIME in nanoseconds at the kernel's latest tick, which is at most 10 ms before the request. */
  uint64_t realtime_ns;
  uint64_t requested_bytes;
  uint32_t thread_id; /* The kernel's thread id. */
  /*
   * The number of entries of stack. 0: no stack was recorded (MALLOMETER_STACKS=off, or see samples_without_stack).
   */
  uint32_t frames;
  char thread_name[16];
  /* Return addresses, innermost first, up to the first that belongs to no loaded object, such as compiled Java code. */
  uint64_t stack[MALLOMETER_EVENT_FRAMES];
};

enum mallometer_allocator_kind {
  MALLOMETER_ALLOCATOR_UNKNOWN = 0,
  MALLOMETER_ALLOCATOR_GLIBC = 1,
  MALLOMETER_ALLOCATOR_JEMALLOC = 2,
  MALLOMETER_ALLOCATOR_TCMALLOC = 3,
  MALLOMETER_ALLOCATOR_MIMALLOC = 4
};

/* The value of a figure that the allocator does not report. */
#define MALLOMETER_UNKNOWN UINT64_MAX

/*
 * Figures that the allocator reports, in bytes. A figure that the allocator does not report is MALLOMETER_UNKNOWN.
 *
 * system = used + retained + the allocator's own overhead, as far as the allocator reports it. Retained and releasable
 * bytes are virtual, not resident. With glibc they include pages that a trim returned to the system, until the program
 * uses the pages again.
 */
struct mallometer_allocator_state {
  uint32_t kind;             /* enum mallometer_allocator_kind */
  uint32_t rows;             /* Number of rows that were filled. */
  uint64_t arenas;           /* Arenas that exist. */
  uint64_t system_bytes;     /* Obtained from the system and not returned, including objects with own mappings. */
  uint64_t used_bytes;       /* Live objects of the program, including the allocator's overhead for each. */
  uint64_t retained_bytes;   /* Free but not returned to the system. */
  uint64_t mapped_bytes;     /* Objects that have a mapping of their own; part of used. */
  uint64_t releasable_bytes; /* Part of retained: whole pages that a trim would give back, if they are resident. */
  uint64_t resident_bytes;   /* Resident bytes as the allocator reports them (jemalloc). */
  uint64_t trims;            /* Successful calls of mallometer_trim() since the process started. */
};

/* An arena of glibc. */
struct mallometer_arena {
  uint64_t number; /* 0 is the main arena. */
  /* Bytes, as in mallometer_allocator_state. */
  uint64_t system_bytes;
  uint64_t retained_bytes;
  uint64_t releasable_bytes;
  uint64_t top_bytes; /* Part of retained: the free chunk at the arena's end. */
};

/*
 * Sums over samples. A sample that was taken with probability p counts as 1/p objects, so objects and bytes are
 * unbiased estimates. With more than some 30 samples, a 95 % interval is +- 1.96 times the square root of the
 * variance. With MALLOMETER_SAMPLE_INTERVAL=1 the sums are exact and the variances 0.
 */
struct mallometer_site_sums {
  uint64_t samples;
  double objects;
  double bytes;
  double objects_variance;
  double bytes_variance;
};

/*
 * A call site: code that allocates, identified by its whole stack. Ignore a row with neither frames nor samples: it
 * arises when two threads meet the same new stack at once.
 */
struct mallometer_site {
  /*
   * A number that is never given to another site.
   *
   * Sites are forgotten when half of the room for sites is taken (see samples_without_site): first those whose latest
   * sample is oldest, and at most a quarter at once. mallometer_self() does this, and so does mallometer_sites() if
   * `first` is 0. A site is never forgotten while it has a live sample, while a range of mallometer_ranges() refers to
   * it, or within 10 s after a sample.
   *
   * A new site in the place of a forgotten site gets the forgotten number plus 16,384, so the numbers of all known
   * sites differ modulo 16,384.
   */
  uint32_t number;
  uint32_t frames; /* Frames of its stack, see mallometer_site_stack(). */
  /* The live bytes and objects are `allocated` minus `freed`, and their variances are the variances of `allocated`
   * minus those of `freed`. */
  struct mallometer_site_sums allocated;
  struct mallometer_site_sums freed;
};

/*
 * The JVM's garbage collections that have begun since the JVM started. `old` counts full collections, and cycles that
 * collect the old generation. The library counts ZGC's pauses and derives the cycles: a cycle has three pauses, or five
 * with generational ZGC.
 */
struct mallometer_collection_counts {
  uint64_t young;
  uint64_t old;
  /* When the three latest collections of the old generation were first noticed, the latest first; 0 if that is
   * unknown. */
  uint64_t old_began_ns[3];
  /* 1: the JVM runs generational ZGC. Several collections of the old generation may then begin between an object's
   * death and its free by a cleaner. */
  uint32_t generational_zgc;
  uint32_t marks_first; /* 1: a collection of the old generation is counted only after its marking, as with G1. */
  char reason[128];     /* Why there are no counts; empty if there are. */
};

/*
 * Sums over the samples of a site that were allocated before a collection of the old generation began, and were freed
 * before the next one began. A sample was freed promptly if a cleaner freed it within 5 s after the library noticed the
 * collection, and at most one other collection, of any generation, began in between.
 *
 * With G1 (mallometer_collection_counts.marks_first is 1), the library notices a collection of the old generation only
 * after its marking, which is assumed to take 2 s. Garbage that was allocated during the marking survives the
 * collection. A sample that was allocated in these 2 s therefore counts as allocated after the collection began.
 * However, it counts as allocated before the collection if it was freed promptly and no other collection of the old
 * generation began during its life.
 */
struct mallometer_outlived {
  uint64_t collection; /* The number of this collection of the old generation, from 1 on; 0: none is described here. */
  uint32_t at_once;    /* Samples that were freed promptly (see above). */
  uint32_t otherwise;  /* The remaining samples. */
  uint32_t again;      /* Part of at_once + otherwise that had survived an earlier collection of the old generation. */
  uint32_t reserved;
  double first_bytes;     /* Bytes of promptly freed samples that survived no earlier old-generation collection. */
  double again_bytes;     /* Bytes of the samples that `at_once` and `again` both include. */
  double otherwise_bytes; /* Bytes of the samples that neither `at_once` nor `again` includes. */
};

/*
 * Samples of a site that were freed after collections. Cleaners are the threads that wait in
 * ReferenceQueue.remove(), and HotSpot's reference handler. Bytes are estimates, as in struct mallometer_site.
 */
struct mallometer_cleaned {
  uint32_t site;
  /* Samples that cleaners freed; and the part of these samples that had survived one young collection and no
   * collection of the old generation. */
  uint32_t samples;
  uint32_t after_first_young;
  uint32_t reserved;
  struct mallometer_outlived old[2]; /* The latest collection of the old generation, and the one before it. */
};

/* An executable or library. It is recorded when a stack first has a frame in it. */
struct mallometer_module {
  uint32_t number;
  uint32_t build_id_bytes;
  /* The first address, the address after the last, and the number that the loader added to addresses in the file.
   * Addresses in the file are ELF virtual addresses, not file offsets. All three values are 0 if unknown. */
  uint64_t begin;
  uint64_t end;
  uint64_t bias;
  uint8_t build_id[32];
  char path[1024]; /* The loader's path of the file. Empty for the executable. */
};

/* The owner of a range of memory. */
enum mallometer_range_owner {
  MALLOMETER_RANGE_OF_PROGRAM = 0,
  MALLOMETER_RANGE_OF_ALLOCATOR = 1, /* Mapped by the allocator. The call sites of malloc account for this memory. */
  MALLOMETER_RANGE_OF_LIBRARY = 2    /* This library. Such a range has no site and no time. */
};

/* A range of addresses that the process mapped, or reserved for later. Its pages need not be in memory. */
struct mallometer_range {
  uint64_t address;
  uint64_t length;
  uint64_t mapped_ns; /* The time of the mapping, to within 17 ms. */
  uint32_t site;      /* The call site that reserved the addresses, for mallometer_site_stack(); UINT32_MAX: none. */
  uint32_t owner;     /* enum mallometer_range_owner */
};

#define MALLOMETER_METHOD_LINES 1024

/* The name of a Java method, and its source lines. */
struct mallometer_method {
  /* Texts are cut if they are too long. The class is written as in class files: Ljava/util/zip/Deflater; */
  char class_signature[768];
  char name[256];
  char source[256]; /* Empty if the class file does not name it. */
  /* Pairs of a bytecode index and the source line that begins there. */
  uint32_t line_count;
  uint32_t reserved;
  uint32_t lines[MALLOMETER_METHOD_LINES][2];
};

/* A sampled object that is live. */
struct mallometer_object {
  uint64_t bytes;     /* The size in the unit of mallometer_report.byte_unit. */
  double probability; /* The probability with which it was sampled. In sums it counts as (1 / probability) objects. */
  /* The time of the allocation, accurate to some ten milliseconds. */
  uint64_t born_ns;
  uint32_t site;
  /* The numbers of collections that had begun before the allocation: of the old generation, and of all generations. */
  uint32_t old_collections;
  uint32_t collections;
  uint32_t reserved;
  /*
   * The probability with which this sample was put into a slot: pages that hold only this object, so that the library
   * sees accesses to it. A sum over the samples in slots must count this sample as 1 / (probability * placement)
   * objects. 0 if accesses are unknown: the sample is in no slot, or the program has locked its page (mlock(2)).
   */
  double placement;
  /*
   * The latest time at which the program or the kernel may have accessed the object, accurate to some ten milliseconds;
   * 0 if unknown. The value is the end of the latest epoch with an access. Without any access so far, it is the time
   * of the object's birth. Between last_access_ns and mallometer_observation.epoch_end_ns there was no access.
   */
  uint64_t last_access_ns;
  /* The address with all bits inverted, so that mallometer_search_start() does not count this field as a reference
   * to the object. */
  uint64_t inverted_address;
};

/* Whether accesses to objects are observed (docs/explanation/leaks.md). */
enum mallometer_leaks_state {
  /* The observation was never started, has been stopped as often as it was started, or is forbidden
   * (MALLOMETER_LEAKS=off). */
  MALLOMETER_LEAKS_OFF = 0,
  /* The library's thread tests the system's features, or is about to observe again. */
  MALLOMETER_LEAKS_STARTING = 1,
  MALLOMETER_LEAKS_ON = 2,
  MALLOMETER_LEAKS_FAILED = 3 /* Off until the process ends; `reason` says why. */
};

/* The ways to clear the kernel's accessed bits of the pages of sampled objects: madvise(MADV_COLD) or
 * /proc/self/clear_refs. */
enum mallometer_leaks_method { MALLOMETER_LEAKS_BY_COLD = 1, MALLOMETER_LEAKS_BY_CLEAR_REFS = 2 };

/* The number of sizes of slots: 4 KiB, 64 KiB, 1 MiB, 16 MiB. */
#define MALLOMETER_SLOT_CLASSES 4

/* The state of the observation of accesses to objects. */
struct mallometer_observation {
  uint32_t state;  /* enum mallometer_leaks_state */
  uint32_t method; /* enum mallometer_leaks_method; 0 while off */
  /* The time at which the first epoch began after the observation was last started; 0 before. An epoch is the time
   * between two readings of the accessed bits. */
  uint64_t started_ns;
  /* The number of epochs that ended since started_ns, and how many of them have no result, for example because the
   * kernel itself cleared accessed bits. */
  uint64_t epochs;
  uint64_t void_epochs;
  /* End of the latest epoch with a result, and the planned length of the current one. */
  uint64_t epoch_end_ns;
  uint64_t epoch_ns;
  uint64_t cpu_ns; /* CPU time of the library's thread; part of mallometer_report.overhead_ns. */
  /* arena_bytes: address space reserved for slots. resident_bytes: the size of the pages of used slots. limit_bytes:
   * the most bytes by which resident_bytes may exceed the sizes of the objects. */
  uint64_t arena_bytes;
  uint64_t resident_bytes;
  uint64_t limit_bytes;
  uint32_t slots_in_use[MALLOMETER_SLOT_CLASSES];
  uint32_t slots[MALLOMETER_SLOT_CLASSES];
  /* Samples that were moved into slots; samples that were not moved, because no slot or memory was left; and samples
   * that are too large for slots. */
  uint64_t placed;
  uint64_t not_placed;
  uint64_t too_large;
  /* Slots that are never used again: the allocator unmapped or resized their pages in a call that the library did not
   * see, or the program overwrote the header before the object. */
  uint64_t retired;
  /* 1 if mallometer_watch() can work; otherwise 0, and `watch_reason` says why. */
  uint32_t can_watch;
  uint32_t reserved;
  /* `reason` is empty if the observation works, and `watch_reason` if watchpoints work. In the state
   * MALLOMETER_LEAKS_ON, `reason` says why the library at present observes no accesses, or observes no new objects. */
  char reason[160];
  char watch_reason[160];
};

/* A histogram of durations of one kind. Bucket i begins at 2^(i/2 - 6) s and ends where the next begins. Bucket 0
 * also holds all shorter durations, and the last bucket all longer ones. */
#define MALLOMETER_DURATION_BUCKETS 48
struct mallometer_durations {
  uint64_t count; /* Number of observed durations. */
  /* The estimated number of durations in each bucket: sums of 1 / (probability * placement), with the values of
   * these fields in mallometer_object. */
  float weight[MALLOMETER_DURATION_BUCKETS];
};

/* Histograms of how long the objects of a call site live and stay idle. They include only objects in slots. */
struct mallometer_site_evidence {
  uint32_t site;
  uint32_t reserved;
  /* Objects of the site that were ever put into a slot, and how many of them were freed. */
  uint64_t placed;
  uint64_t freed;
  struct mallometer_durations lifetimes; /* Time from birth to free. */
  /* The time from the latest access to an object until its free. An object is left out if no epoch had an access to
   * it, or if accesses to it cannot be seen. */
  struct mallometer_durations idle_before_free;
  /* Idle times between accesses to an object. The library reads at the end of each epoch whether the object was
   * accessed. An idle time lasts from the end of an epoch with an access, or from the object's birth, to the end of
   * the next epoch with an access. It counts only if an epoch without access ended during this time. */
  struct mallometer_durations gaps;
};

#define MALLOMETER_ACCESS_FRAMES 64

enum mallometer_access_kind { MALLOMETER_ACCESS = 1, MALLOMETER_WRITE = 2 };

/* An access to an object of a call site, seen by a watchpoint. */
struct mallometer_access {
  uint32_t site;
  uint32_t kind; /* MALLOMETER_ACCESS for the latest access of any kind, MALLOMETER_WRITE for the latest write */
  /* The times of the access and of the object's birth, accurate to one tick of the kernel. */
  uint64_t monotonic_ns;
  uint64_t born_ns;
  /* The kernel's thread id. */
  uint32_t thread_id;
  uint32_t frames;
  char thread_name[16];
  /* Frames as mallometer_site_stack() returns them; the first is the instruction after the access. */
  uint64_t stack[MALLOMETER_ACCESS_FRAMES];
};

/* State of a search for lost objects (mallometer_search_start). */
enum mallometer_search_state {
  /* No search was started. */
  MALLOMETER_SEARCH_NONE = 0,
  MALLOMETER_SEARCH_RUNNING = 1,
  MALLOMETER_SEARCH_DONE = 2,
  MALLOMETER_SEARCH_FAILED = 3 /* The latest search ended without a result; `reason` says why. */
};

/* The progress and result of the latest search. */
struct mallometer_searched {
  uint32_t state; /* enum mallometer_search_state */
  /* The number of the search in this process, from 1 on. */
  uint32_t number;
  uint64_t began_ns;
  uint64_t ended_ns; /* 0 while it runs. */
  uint64_t cpu_ns;   /* CPU time of the library's threads; part of mallometer_report.overhead_ns. */
  /*
   * searched_bytes: bytes that were read. resident_bytes: bytes to read, namely resident memory that the program can
   * write. swapped_bytes: bytes that are swapped out, which the search cannot read. The three figures exclude the
   * library's own tables. The search finds no reference in a page that it has not read, so it may wrongly take an
   * object for lost. If the number of swapped bytes is unknown, the search fails.
   *
   * The search uses mincore(2) if it may not read /proc/self/pagemap. It then does not read shared mappings, but
   * resident_bytes still includes their pages, even those that only other processes use. It reads all cached pages of
   * writable private mappings of files, and so makes them resident in this process. With mincore(2), swapped_bytes is
   * the figure of the whole process, including the library's tables, and 0 until the search ends.
   */
  uint64_t searched_bytes;
  uint64_t resident_bytes;
  uint64_t swapped_bytes;
  /* objects: the number of live samples that the search looked for, which is also the number of rows of
   * mallometer_search(); 0 until the search is done. With n sites, the search looks for at most 8,192 / n samples of
   * each site. left_out: the number of further live samples of these sites. */
  uint32_t objects;
  uint32_t left_out;
  /*
   * The number of threads whose registers the search could not read. It can read them only while a thread waits for a
   * condition variable. References in the other threads' registers are missed. UINT32_MAX if the number of threads is
   * unknown.
   */
  uint32_t unread_threads;
  uint32_t reserved;
  char reason[160];
};

/* A sampled object that was live when the search began. */
struct mallometer_sought {
  /* A number that the object has in all searches of this process. It does not reveal the address. */
  uint64_t id;
  /* bytes, probability, born_ns and site: as in mallometer_object. */
  uint64_t bytes;
  double probability;
  uint64_t born_ns;
  uint32_t site;
  /* The number of aligned words outside the object that contain an address in the object. Only the lower 48 bits of
   * each word are compared. 0: no address of the object was found. */
  uint32_t references;
  /* 1 if the object was freed before the end of the search, so that `references` means nothing. */
  uint32_t freed;
  uint32_t reserved;
};

/* ---- Owners -------------------------------------------------------------------------------------------- */

/* The steps of a search for owners. */
enum mallometer_owners_step {
  /* Walks over the Java heap once and finds Java longs that are addresses of the samples. Stops the JVM. */
  MALLOMETER_OWNERS_HOLDERS = 1,
  /* Starts at the addresses that Java longs contain and follows pointers in native memory, to reach the samples for
   * which MALLOMETER_OWNERS_HOLDERS found no long. The program runs meanwhile. */
  MALLOMETER_OWNERS_POINTERS = 2,
  /* MALLOMETER_OWNERS_POINTERS followed pointers from some Java longs to samples. This step walks over the Java heap
   * again and finds the objects and static fields that contain these longs. Stops the JVM. */
  MALLOMETER_OWNERS_POINTER_HOLDERS = 3,
  /*
   * Finds the referrers of objects. The first run of this step looks for the referrers of the holders, the objects that
   * step 1 (MALLOMETER_OWNERS_HOLDERS) and step 3 (MALLOMETER_OWNERS_POINTER_HOLDERS) found. For each field, it follows
   * at most 64 holders from step 1, and 64 from step 3. A later run looks for the referrers of the referrers that
   * earlier runs found. Stops the JVM.
   */
  MALLOMETER_OWNERS_REFERRERS = 4
};

/* The progress of a search for the Java objects that hold samples. */
struct mallometer_owners {
  /* samples: samples that were live when the search began, at most 4,096. samples_left_out: live samples beyond this
   * number. */
  uint32_t samples;
  uint32_t samples_left_out;
  /* Samples that were freed since the search began: rows about them mean nothing. */
  uint32_t samples_freed;
  /* Numbers of rows of each kind. */
  uint32_t holds;
  uint32_t objects;
  uint32_t links;
  uint32_t left_out; /* Rows and values that were left out, because there was no room. */
  /* candidates: the number of Java longs that may be addresses of structures in native memory; equal longs count
   * once. pointers: the number of samples to which pointers from these structures lead; a sample counts once for
   * each such candidate; known after MALLOMETER_OWNERS_POINTERS. */
  uint32_t candidates;
  uint32_t pointers;
  /* next_objects: the number of objects whose referrers MALLOMETER_OWNERS_REFERRERS would look for now.
   * next_classes: 1 if these objects have one class, 2 if they have several classes, 0 if there are no objects. */
  uint32_t next_objects;
  uint32_t next_classes;
  int32_t pointers_error; /* 0, or the -errno that makes MALLOMETER_OWNERS_POINTERS impossible here. */
  /* Nanoseconds of the latest walk, including the wait until all Java threads stood still. */
  uint64_t walk_ns;
};

#define MALLOMETER_NONE UINT32_MAX

/* A Java long (a field or array element of type long) that holds a sample: its value is an address in the sample, or
 * an address from which pointers in native memory lead to the sample. */
struct mallometer_hold {
  uint32_t sample; /* The sample's index, below mallometer_owners.samples. */
  uint32_t freed;  /* 1 if the sample was freed. */
  uint32_t object; /* The Java object that contains the address; MALLOMETER_NONE: a static field contains it. */
  /* The class and the field that contain the Java long, as numbers for mallometer_owners_name(). MALLOMETER_NONE:
   * the name is unknown, or the long is an element of an array and so has no field. */
  uint32_t class_name;
  uint32_t field_name;
  uint32_t steps; /* Pointers in native memory between the Java long and the sample; 0: the long points into it. */
};

/* Bits of mallometer_heap_object.kinds. */
enum mallometer_heap_object_kinds {
  MALLOMETER_HEAP_OBJECT_CLASS = 1u,
  MALLOMETER_HEAP_OBJECT_THREAD = 2u,
  /* A java.lang.ref.Reference. SOFT, PHANTOM or FINAL is also set for a SoftReference, PhantomReference or
   * FinalReference; none of the three is set for a WeakReference. */
  MALLOMETER_HEAP_OBJECT_REFERENCE = 4u,
  MALLOMETER_HEAP_OBJECT_SOFT = 8u,
  MALLOMETER_HEAP_OBJECT_PHANTOM = 16u,
  MALLOMETER_HEAP_OBJECT_FINAL = 32u
};

/* Bits of mallometer_heap_object.flags. */
enum mallometer_heap_object_flags {
  /* EXPANDED: the search has looked for the object's referrers, and rows of mallometer_heap_link name them. MORE:
   * the object has further referrers. */
  MALLOMETER_HEAP_OBJECT_EXPANDED = 1u,
  MALLOMETER_HEAP_OBJECT_MORE = 2u,
  MALLOMETER_HEAP_OBJECT_REACHED = 4u, /* A walk for referrers reached the object, so it was not garbage. */
  MALLOMETER_HEAP_OBJECT_FOLLOWED = 8u /* The referrers are known, or the next step looks for them. */
};

/* A Java object. */
struct mallometer_heap_object {
  /* The number of the class's name, for mallometer_owners_name(). An object of java.lang.Class has the name of the
   * class that it represents. */
  uint32_t class_name;
  uint32_t kinds;
  uint32_t flags;
  /* The object is at most this many links (struct mallometer_heap_link) away from an object that a mallometer_hold
   * names. 0: a mallometer_hold names this object. */
  uint32_t level;
};

/* A reference to an object. */
struct mallometer_heap_link {
  uint32_t object;
  uint32_t referrer; /* MALLOMETER_NONE: a root. */
  /* A jvmtiHeapReferenceKind: 2 field, 3 array element, 8 static field, 21 JNI global, 24 local variable, ... */
  uint32_t kind;
  /* A number for mallometer_owners_name(). It names the field that refers to the object, or the method whose local
   * variable does. MALLOMETER_NONE: the name is unknown. */
  uint32_t name;
  uint64_t thread; /* The Java id of the thread, if the referrer is a local variable; 0: none. */
};

/* Kinds of rows of mallometer_owners_rows(): struct mallometer_hold, mallometer_heap_object, mallometer_heap_link. */
enum mallometer_owners_rows { MALLOMETER_OWNERS_HOLDS = 1, MALLOMETER_OWNERS_OBJECTS = 2, MALLOMETER_OWNERS_LINKS = 3 };

/* Settings that mallometer_configure() changes. */
enum mallometer_option {
  /* The CPU time that samples may take, in millionths of one processor; 0: no limit. */
  MALLOMETER_OPTION_OVERHEAD_TARGET = 1,
  /*
   * MALLOMETER_SAMPLE_INTERVAL, the mean number of bytes that code allocates between two samples. Code that allocates
   * rarely is sampled more often than that, and busy code less often. 0: nothing is sampled. A running process cannot
   * change to or from 1, because an interval of 1 means exact figures, which need samples from the start of the
   * process. With 2 to 8 and an overhead target of 0, all allocations of at least 8 bytes are sampled from then on.
   */
  MALLOMETER_OPTION_SAMPLE_INTERVAL = 2,
  MALLOMETER_OPTION_SHORTEST_EPOCH = 3, /* Least time between readings of accesses: 10 to 60,000 ms (default 5,000). */
  /* An epoch lasts at least this many times the CPU time spent on it: 10 to 1,000,000; 1,000 by default. */
  MALLOMETER_OPTION_EPOCH_OVER_COST = 4,
  /* 1: stacks of the JVM's compiler threads name the method that is being compiled. The library keeps two files of
   * /proc open to read that method. 0: such stacks name no method, and the two files are closed, as a checkpoint
   * requires. */
  MALLOMETER_OPTION_COMPILED_METHODS = 5
};

#ifndef MALLOMETER_API
#define MALLOMETER_API __attribute__((visibility("default")))
#endif

/*
 * Starts counting in a running process that was not preloaded. Load the library by dlopen first, best with RTLD_NOW |
 * RTLD_LOCAL. This function changes pointers to malloc and its family in the data of all loaded objects, including the
 * C library, and of objects that are loaded later. It changes no code and stops no thread; threads that load libraries
 * or look functions up wait for 1 to 50 ms. Objects allocated before may be freed as usual. If the library is attached
 * already, this does what mallometer_attach_check() does. Allocates, and enters the loader. Not for signal handlers.
 *
 * 0: the library counts. Otherwise nothing was changed, and mallometer_report.reason says why:
 *
 * - -EALREADY: the library counts already by preload, or another copy of it counts.
 * - -EBUSY: another thread attaches or detaches, or threads fork all the time.
 * - -ECHILD: in a forked child, if the library was loaded before the fork.
 * - -EPERM: the environment forbids it: MALLOMETER_ATTACH is off or unknown, MALLOMETER_ENABLED=false, MALLOMETER_ONLY,
 *   or MALLOMETER_ACCOUNTING=header.
 * - -ENOTSUP: the library cannot attach with this C library or this malloc.
 * - -EACCES: the system forbids changes to the pointers.
 */
MALLOMETER_API int mallometer_attach(void);

/*
 * Checks an attached process; call it every few seconds. If shared objects were loaded or unloaded since the latest
 * check, the function redirects pointers to malloc and its family, and redirects them once more in a check 5 s later.
 * Without new objects a check takes about a microsecond. Some checks also compare live bytes with glibc's figure, which
 * takes milliseconds. The pause after a comparison is at least 1,000 times its CPU time, and at least 1,000 times the
 * time that glibc took to report. Enters the loader. Not for signal handlers.
 *
 * 0: the library counts. -ENODATA: not attached, for example because another part of the program has detached; the
 * check does not attach. -EBUSY, -ECHILD: as for mallometer_attach(). -EACCES: the system forbids changes to new
 * pointers; the library is then detached, and mallometer_report.reason says why.
 */
MALLOMETER_API int mallometer_attach_check(void);

/*
 * Restores the pointers that mallometer_attach() changed and stops counting; counters keep their values. The library's
 * code stays loaded, and forwards calls from code that has stored its address. mallometer_attach() may be called again,
 * and begins a new peak and baseline. Enters the loader. Not for signal handlers.
 *
 * -ENODATA: not attached; -EBUSY, -ECHILD: as for mallometer_attach(); -EACCES: the system did not allow some pointers
 * to be changed, and they still lead to the library. If /proc/self/maps cannot be read, no pointer was changed, and the
 * call may be repeated.
 */
MALLOMETER_API int mallometer_detach(void);

/* Returns the MALLOMETER_ABI_VERSION that the library was built with. */
MALLOMETER_API uint32_t mallometer_abi_version(void);

/*
 * Reads the counters of the whole process. Takes about 25 ns times the largest number of threads that were alive at
 * once. Frees are summed before allocations, so live bytes are never negative although other threads continue to
 * count.
 */
MALLOMETER_API int mallometer_snapshot(struct mallometer_counters *snapshot);

/*
 * Reads the counters of the calling thread, in under 1 us. Frees of objects that other threads allocated are included,
 * so freed_bytes may exceed allocated_bytes. In a thread without events the call may map memory for the thread's
 * counters. pthread_setspecific(3) then allocates if the process had 32 thread keys before the library made its key.
 *
 * -ENODATA: not counting. -EAGAIN: this thread has no counters of its own, because their table is full, or because the
 * thread is ending and is past the first round of its destructors.
 */
MALLOMETER_API int mallometer_thread_snapshot(struct mallometer_counters *snapshot);

/* Stops counting in every thread, until mallometer_enable() or an attach after a detach. Live and peak bytes stay
 * unknown afterwards. An event that a thread has begun may still be counted. -ENODATA: not counting. */
MALLOMETER_API int mallometer_disable(void);

/* Resumes counting after mallometer_disable(). -ENODATA: not counting. */
MALLOMETER_API int mallometer_enable(void);

/*
 * Copies the latest huge requests (above MALLOMETER_HUGE bytes) whose numbers are above `after`, oldest first. The
 * latest 64 are stored; a gap in the numbers shows how many were missed.
 */
MALLOMETER_API int mallometer_events(struct mallometer_event *events, uint32_t capacity, uint64_t after);

/*
 * Copies rows of call sites from row `first` on; at most 16,384 are known. A site keeps its row. Begin each reading
 * with row 0, and ignore rows without samples. -ENODATA: call sites are not recorded (MALLOMETER_STACKS,
 * MALLOMETER_SAMPLE_INTERVAL=0, or there is no memory: mallometer_report.reason).
 *
 * Recording begins at the start of the program if the program refers to mallometer_sites, mallometer_site_stack,
 * mallometer_objects, mallometer_modules, mallometer_leaks_start, mallometer_search_start or mallometer_jvm_attach, or
 * if MALLOMETER_STACKS or MALLOMETER_SAMPLE_INTERVAL is set. Otherwise recording begins in a JVM when libjvm.so is
 * opened, and in other programs at the first call of one of these functions.
 *
 * Recording reserves 10 MiB. It does not begin while RLIMIT_AS or RLIMIT_DATA leaves less than 64 times this size; each
 * call tries again.
 */
MALLOMETER_API int mallometer_sites(struct mallometer_site *sites, uint32_t capacity, uint32_t first);

/*
 * Copies the frames of a call site, innermost first: return addresses up to the first that belongs to no loaded object,
 * then Java frames. -EINVAL: `frames` is NULL, or the site is unknown or was forgotten; -ENODATA: call sites are not
 * recorded.
 *
 * A Java frame has its highest bit set, which no address has. The lowest 16 bits are the bytecode index (0xffff:
 * unknown, or a native method). The bits between are the number of the method for mallometer_method_name() (all ones:
 * unknown). A stack of a compiler thread may begin with the method that the thread compiles, as a Java frame with the
 * bytecode index 0xfffe.
 *
 * Compiled Java code may call native code through the foreign-function interface. The Java frames that were recorded
 * for such a call are wrong. If the calling thread is one of the JVM's threads, mallometer_site_stack() asks the JVM
 * for the right frames. Their number may differ from mallometer_site.frames.
 */
MALLOMETER_API int mallometer_site_stack(uint32_t number, uint64_t *frames, uint32_t capacity);

/* Copies the modules with numbers of at least `first`; at most 1,024 are known. -ENODATA: call sites are not
 * recorded. */
MALLOMETER_API int mallometer_modules(struct mallometer_module *modules, uint32_t capacity, uint32_t first);

/*
 * Copies ranges of memory, in the order of their addresses. A range is memory that the program mapped by mmap or mremap
 * and has not unmapped, or one of the library's tables. The first row is the first range that ends after the address
 * `from`. To read all ranges, call again with the end of the last row until no row is returned. A range has the site
 * that reserved its addresses, even if memory was mapped there later. Ranges that are mapped or unmapped during the
 * call may be missing.
 *
 * Five kinds of mappings are unknown:
 *
 * - mappings from before call sites were recorded;
 * - mappings of the loader;
 * - mappings that the C library makes itself (for glibc's malloc, thread stacks, files);
 * - mappings of shmat and sbrk;
 * - mappings by system calls that the program makes without the C library.
 *
 * The function holds a lock of the library for some microseconds at a time. Not for signal handlers. -ENODATA: ranges
 * are not recorded; -EAGAIN: another thread had the lock for a millisecond: call again.
 */
MALLOMETER_API int mallometer_ranges(struct mallometer_range *rows, uint32_t capacity, uint64_t from);

/*
 * Copies live samples; at most 69,632 exist. Objects that are allocated or freed during the call may be missing.
 * -ENODATA: call sites are not recorded.
 */
MALLOMETER_API int mallometer_objects(struct mallometer_object *objects, uint32_t capacity);

/*
 * Adds Java frames to stacks recorded after this call. Must be called by a thread of the JVM; takes some 20 ms, since
 * the JVM makes ids for all methods. A second call does nothing. Allocates. Not for signal handlers.
 *
 * -ENODATA: call sites are not recorded; -EPERM: MALLOMETER_STACKS=native; -ESRCH: no JVM in this process, or the
 * calling thread is none of its threads; -ENOTSUP: the JVM has no AsyncGetCallTrace or refuses JVMTI, or there is no
 * memory for its methods; -EBUSY: another thread is in this function.
 */
MALLOMETER_API int mallometer_jvm_attach(void);

/*
 * Asks the JVM for the name of a method; numbers are consecutive from 0. Must be called by a thread of the JVM, and
 * before the class is unloaded. Allocates. Not for signal handlers. -EINVAL: `method` is NULL, or no method has that
 * number yet; -ESRCH: the class was unloaded; -ENODATA: Java frames are off, or the calling thread is not the JVM's.
 */
MALLOMETER_API int mallometer_method_name(uint32_t number, struct mallometer_method *method);

/*
 * Counts the JVM's garbage collections, copies rows about the samples that cleaners freed, and returns the number of
 * rows. A cleaner is a thread that frees the native memory of unreachable Java objects. The function looks at the
 * stacks of threads. It recognizes a cleaner only while the cleaner waits for work, so call the function every few
 * seconds. With a capacity of 0 it looks at no stacks, and `rows` may be NULL. Must be called by a thread of the JVM.
 * Allocates. Not for signal handlers.
 *
 * -ENODATA: call sites are not recorded, Java frames are off, or collections cannot be counted. out->reason says why,
 * but is empty if call sites are not recorded.
 */
MALLOMETER_API int mallometer_collections(struct mallometer_collection_counts *out, struct mallometer_cleaned *rows,
                                          uint32_t capacity);

/*
 * Starts a thread that observes whether sampled objects are accessed; mallometer_leaks() reports whether that works.
 * Each further call needs a mallometer_leaks_stop() of its own. Not for signal handlers. -ENODATA: call sites are not
 * recorded, or MALLOMETER_LEAKS=off; -EAGAIN: no thread could be started; try again.
 */
MALLOMETER_API int mallometer_leaks_start(void);

/*
 * Revokes one mallometer_leaks_start() that returned 0. After the last is revoked, the library observes no accesses
 * until the next start, and moves no more samples into slots. At that start, the objects in slots count as just
 * accessed. The library's thread stays, and sleeps. -ENODATA: no start is left to revoke.
 */
MALLOMETER_API int mallometer_leaks_stop(void);

/* Reads the state of the observation of accesses. */
MALLOMETER_API int mallometer_leaks(struct mallometer_observation *out);

/* Copies the histograms of call sites, from row `first` on; at most 8,192 rows are known. Ignore a row with `placed`
 * 0: it arises when two threads meet the same new site at once. -ENODATA: nothing is observed. */
MALLOMETER_API int mallometer_evidence(struct mallometer_site_evidence *evidence, uint32_t capacity, uint32_t first);

/*
 * Starts to record the latest accesses to objects of at most 4 call sites. The library sets a hardware watchpoint on a
 * new object of the sites when it moves the object into a slot. It watches the first 8 bytes of at most two objects at
 * a time, and sees accesses by the allocating thread only. A count of 0 ends the recording. Not for signal handlers.
 *
 * -EINVAL: `sites` is NULL and `count` is not 0, or there are too many sites; -ENODATA: nothing is observed; -ENOTSUP:
 * watchpoints do not work, and mallometer_observation.watch_reason says why.
 */
MALLOMETER_API int mallometer_watch(const uint32_t *sites, uint32_t count);

/*
 * Copies the accesses that watchpoints saw, at most two for each site that was ever watched, 128 in all. -ENODATA:
 * nothing is observed.
 */
MALLOMETER_API int mallometer_accesses(struct mallometer_access *accesses, uint32_t capacity);

/*
 * Starts a search of the process's memory for addresses of live samples of 1 to 64 call sites. A thread of the library
 * searches once. It takes a tenth of one processor, and about 0.35 s of CPU time for each GiB. It reads at most
 * `most_bytes` of memory.
 *
 * An object to which the search finds no reference is probably lost. The search misses a reference in swapped memory,
 * in the kernel's memory, or in a register of a thread that `unread_threads` counts. It also misses an address that is
 * encoded or unaligned, or that the program moves during the search. One object without references is therefore no
 * evidence of a leak. Several objects of a site without references in two searches are evidence. Lost objects that
 * point to each other have references and are not found.
 *
 * While accesses are observed (mallometer_leaks_start), the search begins at the end of an epoch, and first reads the
 * slots. If that takes longer than a 128th of the epoch, this epoch has no result, because accesses by the program
 * meanwhile are lost.
 *
 * Not for signal handlers. -EINVAL: `sites` is NULL, or `count` is 0 or above 64; -EBUSY: a search runs; -ENODATA: call
 * sites are not recorded; -ECHILD: in the child of a fork; -EAGAIN: no thread could be started, or there is no memory.
 */
MALLOMETER_API int mallometer_search_start(const uint32_t *sites, uint32_t count, uint64_t most_bytes);

/* Reads the state of the latest search. If the search is done, also copies the objects that it looked for. `rows` may
 * be NULL if capacity is 0. */
MALLOMETER_API int mallometer_search(struct mallometer_searched *out, struct mallometer_sought *rows,
                                     uint32_t capacity);

/* Changes the setting of an enum mallometer_option. -EINVAL: there is no such option, or it cannot have that value;
 * -EBUSY: try again. */
MALLOMETER_API int mallometer_configure(uint32_t option, uint64_t value);

/* Reads the state and cost of mallometer itself. */
MALLOMETER_API int mallometer_self(struct mallometer_report *self);

/*
 * Starts to record into a file: a thread of the library writes the counters once a second. mallometer_recording()
 * reports whether recording works. Opens files and starts a thread; not for signal handlers.
 *
 * -EINVAL: `path` is NULL, empty or longer than 700 bytes; -EBUSY: this process records already, or is starting to;
 * -ENODATA: not counting; -EIO: recording failed; mallometer_recording() has the reason.
 */
MALLOMETER_API int mallometer_record(const char *path);

/*
 * Writes a record into the recording, in the calling thread and without a lock. Stores at most 72 KiB, in 0.5 ms.
 * Returns the number of bytes of `content` that were recorded; a text that is too long is cut after the last line that
 * fits. If a kill interrupts the writing, readers ignore the record.
 *
 * `kind` is the kind of a region in docs/reference/recording.md, 3 to 7. For call sites (kind 7), `percent` says when
 * the sites were read: 85, 90 or 95 when memory reached that percentage of the limit, 0 at the peak. For other kinds
 * `percent` is 0. `content` may be NULL if `length` is 0.
 *
 * -EINVAL: `kind` or `percent` has none of these values, or `content` is NULL and `length` is not 0; -EMSGSIZE: the
 * text of call sites is too long; -ENODATA: the process does not record; -EBUSY: another thread writes a record of this
 * kind; -EIO: the file was truncated, or its file system failed.
 */
MALLOMETER_API int mallometer_recording_write(uint32_t kind, uint32_t percent, const char *content, uint32_t length);

/* Reads whether the process records, and the file's path. */
MALLOMETER_API int mallometer_recording(struct mallometer_recording_status *out);

/*
 * Requests a termination message: 1,024 bytes of ASCII in a file, written when memory nears its limit or rises fast. A
 * thread of the library writes the file at most once a second, or at most every 10 ms in a fast rise. It empties the
 * file when memory suffices again and when the process exits.
 *
 * The file must exist, and be regular, empty and locked by nobody. If another program changes the file, the library
 * never writes to it again. Opens files and starts a thread; not for signal handlers.
 *
 * -EINVAL: the path is not absolute, or is longer than 700 bytes; -EBUSY: there is a message already, or there was one
 * and its file changed; -ENODATA: not counting; -EAGAIN: the file is locked or in use, so ask later; -EIO: another
 * reason, which mallometer_message() has.
 */
MALLOMETER_API int mallometer_message_start(const char *path);

/* Empties the file and stops writing it; mallometer_message_start() may follow. Waits at most 0.1 s for a write. */
MALLOMETER_API int mallometer_message_stop(void);

/*
 * Stores a sentence for the termination message, such as a diagnosis. Later messages contain at most its first 512
 * bytes. A byte that is not printable ASCII is shown as a question mark. A length of 0 removes the sentence.
 */
MALLOMETER_API int mallometer_message_sentence(const char *sentence, uint32_t length);

/* Reads the state of the termination message: whether it is on, the path of its file, and the reason if it is off. */
MALLOMETER_API int mallometer_message(struct mallometer_message_status *out);

/*
 * Asks the allocator for its figures, and glibc for those of its arenas; `rows` may be NULL if capacity is 0. Takes
 * the allocator's locks, one arena after the other, for about 150 ns for each free chunk; a thread that allocates
 * waits while its arena is read. May allocate and free, which is counted. Not for signal handlers. Returns 0.
 * -ENODATA: not preloaded or attached; -ENOTSUP: the allocator has no such figures.
 */
MALLOMETER_API int mallometer_allocator(struct mallometer_allocator_state *out, struct mallometer_arena *rows,
                                        uint32_t capacity);

/*
 * Asks the allocator to give free memory back to the system. Takes about as long as mallometer_allocator(), plus a
 * tenth of a millisecond for each MiB given back, and holds the allocator's locks. Not for signal handlers. -ENODATA:
 * not preloaded or attached; -ENOTSUP: the allocator cannot.
 */
MALLOMETER_API int mallometer_trim(void);

/* ---- Scopes ------------------------------------------------------------------------------------------- */

/* Bits of the options of mallometer_scope_open(). */
enum mallometer_scope_options {
  MALLOMETER_SCOPE_THREAD = 0,   /* Counts events of the calling thread. */
  MALLOMETER_SCOPE_PROCESS = 1u, /* Counts events of all threads of the process. */
  MALLOMETER_SCOPE_MATCHED = 2u  /* Matches frees with allocations by address. Not with MALLOMETER_SCOPE_PROCESS. */
};

/* Bits of mallometer_scope.flags. */
enum mallometer_scope_flags {
  /* Counting was off for some time within the scope. Net, peak and matches are then unknown, and are 0. */
  MALLOMETER_SCOPE_INCOMPLETE = 1u,
  MALLOMETER_SCOPE_HAS_MATCHES = 2u, /* temporary_allocations and the fields after it are known. */
  /* temporary_allocations and the fields after it are unknown, and are 0. Either more than 49,152 objects of the
   * scope were live at once, or a signal handler allocated or freed while the table of these objects was changed. */
  MALLOMETER_SCOPE_OVERFLOWED = 4u,
  MALLOMETER_SCOPE_ENDED = 8u /* The thread has ended; the figures are those of its end. */
};

/* Figures of a scope. The fields from `allocations` to `freed_bytes` have the same meaning as in
 * mallometer_counters. */
struct mallometer_scope {
  /* Bits of mallometer_scope_flags. */
  uint32_t flags;
  uint32_t reserved;
  uint64_t allocations[MALLOMETER_SIZE_CLASSES];
  uint64_t frees;
  uint64_t failed;
  uint64_t requested_bytes;
  uint64_t allocated_bytes;
  uint64_t freed_bytes;
  /* The change of live bytes: allocated_bytes - freed_bytes. In a scope of the process after an attach over glibc's
   * malloc, net_bytes also includes the 8-byte size word of each object, as mallometer_counters.live_bytes does. */
  int64_t net_bytes;
  uint64_t peak_bytes; /* The most by which live bytes exceeded those at the beginning; at least 0. */
  /* The largest possible error of peak_bytes, upwards or downwards. 0 for the scope of a thread, whose peak is
   * exact. */
  uint64_t peak_error_bytes;
  uint64_t largest_bytes; /* The largest successful request. */
  /* The largest possible excess of largest_bytes over the true size. A scope of the process knows only the size
   * class of a request. 0 for the scope of a thread, whose figure is exact. */
  uint64_t largest_error_bytes;
  /*
   * Known only with MALLOMETER_SCOPE_HAS_MATCHES. A temporary object was allocated within the scope and also freed
   * within the scope, by the scope's thread. Every other object allocated in the scope is retained, even if another
   * thread freed it. A foreign free is a free of an object that was not allocated within the scope.
   *
   * Another thread may free an object of the scope and reuse its address for a new object. If the scope's thread frees
   * the new object, the free counts for the old one.
   */
  uint64_t temporary_allocations;
  uint64_t temporary_bytes;
  uint64_t retained_allocations;
  uint64_t retained_bytes;
  uint64_t foreign_frees;
  uint64_t foreign_freed_bytes;
};

/*
 * Opens a scope and returns its number, which is greater than 0. Scopes can nest, overlap and be closed in any order. A
 * scope counts the events between its opening and its closing. A scope that a signal handler opens belongs to the
 * interrupted thread.
 *
 * Opening takes under 1 us for a thread's scope. For a scope of the process, the call reads the counters of all threads
 * several times. Until a thread's scope is closed, each event of that thread takes up to 40 instructions more. The
 * first scope of either kind reserves 2.3 MB, of which used pages become resident.
 *
 * With MALLOMETER_SCOPE_MATCHED, each event of that thread takes about 95 instructions more on average, instead of up
 * to 40. The library maps a table of 512 KiB, and realloc takes a longer path in all threads.
 *
 * If the thread of a scope ends, the scope stops counting, but keeps its figures until it is closed, or until its room
 * is needed because 4,096 scopes exist. Counting stops in the destructor of the library's thread key, so events in
 * destructors of other keys are counted only if these run earlier. A forked child has the scopes of its thread and of
 * the process, and must close them too; the scopes of other threads have ended there.
 *
 * -EINVAL: there are no such options; -ENODATA: nothing is counted now; -ENOMEM: there is no memory for the table, or a
 * resource limit leaves too little; -EAGAIN: 4,096 scopes are open, or 32 scopes of the process, or the calling thread
 * has no counters of its own (mallometer_thread_snapshot()). On aarch64, a signal handler that has interrupted an
 * allocation or a free also gets -EAGAIN.
 */
MALLOMETER_API int mallometer_scope_open(uint32_t options);

/*
 * Reads an open scope, from any thread. An event in another thread during the reading may be counted in part. An event
 * in a signal handler that interrupts the opening or the reading may be counted in part, too. -EINVAL: `figures` is
 * NULL, or no such scope is open.
 */
MALLOMETER_API int mallometer_scope_read(uint32_t number, struct mallometer_scope *figures);

/*
 * Copies the live samples that were allocated within a scope and not freed by the scope's thread. The samples show the
 * call sites of the memory that remains. The scope must have been opened with MALLOMETER_SCOPE_MATCHED. Call this from
 * the scope's own thread while the scope is open. -EINVAL: `objects` is NULL, or no such scope is open; -EPERM: the
 * scope belongs to another thread; -ENODATA: frees were not matched with allocations (MALLOMETER_SCOPE_HAS_MATCHES is
 * not set), or call sites are not recorded.
 */
MALLOMETER_API int mallometer_scope_objects(uint32_t number, struct mallometer_object *objects, uint32_t capacity);

/* Closes a scope, from any thread, and reads it; `figures` may be NULL. -EINVAL: no such scope is open. */
MALLOMETER_API int mallometer_scope_close(uint32_t number, struct mallometer_scope *figures);

/* Opens a scope over the process, as mallometer_scope_open(MALLOMETER_SCOPE_PROCESS) does. */
static inline int mallometer_hook(void) { return mallometer_scope_open(MALLOMETER_SCOPE_PROCESS); }

/* Closes the scope that mallometer_hook() opened and reads its statistics, as mallometer_scope_close() does. */
static inline int mallometer_unhook(int number, struct mallometer_scope *statistics) {
  return mallometer_scope_close((uint32_t)number, statistics);
}

/* ---- Monitors ----------------------------------------------------------------------------------------- */

/*
 * Callbacks: functions of the program that the library calls at every event. A callback runs in the thread of the
 * event, inside of malloc or free. Each event calls each monitor once, whichever function the program called. Events
 * and sizes are those of the counters.
 *
 * A malloc calls `allocated` before it returns. A free calls `freed` before the object is given back. A realloc calls
 * first `freed` and then `allocated`, both after the object has moved. Another thread may be given the old address
 * meanwhile, so its `allocated` may be called before the `freed` of the realloc.
 *
 * A callback must return soon, since the program waits. Several threads may call it at once. It may compute, use atomic
 * operations, write to memory of its own that exists already, call mallometer_snapshot(), and change errno. It may also
 * allocate and free: such events are counted, but call no monitor. Events of a signal handler that interrupts the
 * callback call no monitor either.
 *
 * A callback must not
 *
 * - take a lock that a thread may hold while it allocates or frees, because that may deadlock. Such locks are those of
 *   the allocator, of stdio, and of the loader (dlopen, dlsym, first use of a lazily bound function);
 * - call Java, fork, leave by longjmp or an exception, end the thread, or register or unregister monitors;
 * - read or write the object, which may be sampled, or freed already.
 *
 * A cancelled thread may end in a callback that reaches a cancellation point, such as write().
 */

/* `requested`: the bytes that the program asked for; `actual`: the bytes that allocated_bytes counts. */
typedef void mallometer_allocated(void *context, void *object, size_t requested, size_t actual);
/* `actual`: the bytes that freed_bytes counts. The object may have been allocated before the monitor was registered. */
typedef void mallometer_freed(void *context, void *object, size_t actual);

struct mallometer_monitor {
  void *context; /* Passed to both functions. */
  /* Either function may be NULL, but not both. */
  mallometer_allocated *allocated;
  mallometer_freed *freed;
};

/*
 * Registers a copy of a monitor and returns its number, which is greater than 0. The monitor is called for events that
 * begin afterwards. It may miss an event that another thread has begun. If that event is a realloc, the monitor may
 * miss the free and receive the allocation. Monitors stay registered while counting is off, and are not called then. A
 * forked child has the same monitors, with a copy of their contexts.
 *
 * While any monitor is registered, allocations and frees of all threads take a longer path (docs/reference/scopes.md
 * tells its cost). The call switches to this path. If another thread is switching paths at that moment, the call waits
 * for that thread to finish, without a lock and for a second at most.
 *
 * -EINVAL: `monitor` is NULL, or both of its functions are; -ENODATA: not counting; -EAGAIN: 8 are registered.
 */
MALLOMETER_API int mallometer_monitor_register(const struct mallometer_monitor *monitor);

/*
 * Unregisters a monitor. After a result of 0, none of the monitor's functions runs or will be called: the context may
 * be freed, and the code unloaded. The call waits, without a lock, for callbacks that run in other threads.
 *
 * -EINVAL: no such monitor is registered. -EBUSY: a callback did not return within a second, or the caller is itself a
 * callback. The monitor is then not called again, but its context must stay until another call returns 0. If several
 * threads unregister one monitor at the same time, one gets 0, and the other threads get -EBUSY or -EINVAL at once.
 */
MALLOMETER_API int mallometer_monitor_unregister(uint32_t number);

/*
 * A callback for mallometer_monitor.allocated that counts allocations by actual size. The context is an array of
 * MALLOMETER_SIZE_CLASSES uint64_t; each call atomically adds 1 to the size class of `actual`.
 * (mallometer_counters.allocations counts by requested size.)
 */
MALLOMETER_API void mallometer_count_actual(void *context, void *object, size_t requested, size_t actual);

/*
 * Opens a threshold and returns its number, which is above 0. The library then stores the requests above `bytes` with
 * their native stacks, at most 64 until the next reading, and only counts further requests. Any thread may read the
 * stored requests. The threshold may miss requests that other threads are making during this call. Waits as
 * mallometer_monitor_register() does.
 *
 * `thread` limits the threshold to the thread with this number from gettid(2); a later thread may get the same number.
 * 0: all threads. A forked child has the thresholds, too, but its thread has another number.
 *
 * A request above `bytes` takes some hundred instructions more, and a stored request also the walk of its stack. Other
 * events take nothing more if `bytes` is at least 32,768. Below 32,768, all events take the longer path described at
 * mallometer_monitor_register().
 *
 * -EINVAL: bytes is 0 or above PTRDIFF_MAX; -ENODATA: not counting; -EAGAIN: 8 are open.
 */
MALLOMETER_API int mallometer_threshold_open(uint64_t bytes, uint32_t thread);

/*
 * Copies the requests that were stored since the last reading, oldest first. Requests beyond `capacity` are copied by
 * the next reading. Events are numbered from 1 on, so a gap in the numbers shows how many were missed. `total` receives
 * the number of all requests above the size since the threshold was opened; it may be NULL. Only one thread at a time
 * may read a threshold. -EINVAL: `events` is NULL, or there is no such threshold.
 */
MALLOMETER_API int mallometer_threshold_read(uint32_t number, struct mallometer_event *events, uint32_t capacity,
                                             uint64_t *total);

/* Closes a threshold; its number may be used again. -EINVAL: no such threshold. */
MALLOMETER_API int mallometer_threshold_close(uint32_t number);

/* ---- Owners -------------------------------------------------------------------------------------------- */

/*
 * Begins to search for the Java objects that hold live samples of a call site. Makes a JVMTI environment that may tag
 * objects, and reserves 10 MiB. mallometer_owners_end() ends the search.
 *
 * The functions of this section may be called only by threads of the JVM, and only by one thread at a time. They
 * allocate, and must not be called by signal handlers.
 *
 * -EBUSY: a search is under way; -ENODATA: call sites are not recorded, or the site has no live samples; -ESRCH: no JVM
 * in this process, or the calling thread is none of its threads; -ENOTSUP: the JVM refuses; -ENOMEM: no memory, or a
 * limit leaves too little.
 */
MALLOMETER_API int mallometer_owners_begin(uint32_t site, struct mallometer_owners *out);

/*
 * Does one step. Steps come in the order of enum mallometer_owners_step. MALLOMETER_OWNERS_REFERRERS may follow any
 * step and may be repeated, but no other step may follow it. Steps that walk over the heap stop the program for at
 * least about a second for each GiB of live objects, and cannot be interrupted: estimate that time first.
 *
 * -EINVAL: `out` is NULL, or the step is out of order; -ENODATA: no search, or all referrers are known; -EPERM: native
 * memory cannot be read (mallometer_owners.pointers_error); -ENOMEM, -ESRCH, -EIO: the JVM failed.
 */
MALLOMETER_API int mallometer_owners_step(uint32_t step, struct mallometer_owners *out);

/* Copies the rows of one kind (enum mallometer_owners_rows). -EINVAL: `rows` is NULL, or there is no such kind;
 * -ENODATA: there is no search. */
MALLOMETER_API int mallometer_owners_rows(uint32_t kind, void *rows, uint32_t capacity);

/* Copies the name with this number, cut to `bytes`. -EINVAL: `name` is NULL, `bytes` is 0, or there is no such
 * number; -ENODATA: there is no search. */
MALLOMETER_API int mallometer_owners_name(uint32_t number, char *name, uint32_t bytes);

/* Ends the search and frees its memory. -ENODATA: there is no search. */
MALLOMETER_API int mallometer_owners_end(void);

/* ---- Derived figures ---------------------------------------------------------------------------------- */

/* Returns the largest requested size of a size class, in bytes; UINT64_MAX for the last. */
static inline uint64_t mallometer_class_limit(unsigned size_class) {
  return size_class + 1 < MALLOMETER_SIZE_CLASSES ? (uint64_t)16 << size_class : UINT64_MAX;
}

/* Returns the number of successful allocations in the classes from first (included) to end (excluded). */
static inline uint64_t mallometer_allocations_between(const struct mallometer_counters *s, unsigned first,
                                                      unsigned end) {
  uint64_t sum = 0;
  unsigned i;
  for (i = first; i < end; i++) sum += s->allocations[i];
  return sum;
}

static inline uint64_t mallometer_allocations(const struct mallometer_counters *s) {
  return mallometer_allocations_between(s, 0, MALLOMETER_SIZE_CLASSES);
}

static inline uint64_t mallometer_small_allocations(const struct mallometer_counters *s) {
  return mallometer_allocations_between(s, 0, MALLOMETER_FIRST_LARGE_CLASS);
}

static inline uint64_t mallometer_large_allocations(const struct mallometer_counters *s) {
  return mallometer_allocations_between(s, MALLOMETER_FIRST_LARGE_CLASS, MALLOMETER_SIZE_CLASSES);
}

/*
 * Returns allocated minus freed bytes. For the whole of a preloaded process the result is the live bytes. For a thread,
 * or between two snapshots, it is the net change, which may be negative. After an attach, use
 * mallometer_counters.live_bytes, which includes older objects.
 */
static inline int64_t mallometer_live_bytes(const struct mallometer_counters *s) {
  return (int64_t)(s->allocated_bytes - s->freed_bytes);
}

/* Subtracts the numbers and bytes of events in `start` from those in `end`; both snapshots must be of the same kind.
 * All other fields of `result`, such as flags, peak, largest, live and baseline bytes, are those of `end`. `result`
 * may be the same object as `start` or `end`. */
static inline void mallometer_difference(const struct mallometer_counters *start, const struct mallometer_counters *end,
                                         struct mallometer_counters *result) {
  struct mallometer_counters d = *end;
  unsigned i;
  for (i = 0; i < MALLOMETER_SIZE_CLASSES; i++) d.allocations[i] -= start->allocations[i];
  d.frees -= start->frees;
  d.failed -= start->failed;
  d.requested_bytes -= start->requested_bytes;
  d.allocated_bytes -= start->allocated_bytes;
  d.freed_bytes -= start->freed_bytes;
  d.huge_allocations -= start->huge_allocations;
  *result = d;
}

#ifdef __cplusplus
}
#endif

#endif
