/*
 * mallometer: counts every malloc and free of a process.
 *
 * The library is loaded with LD_PRELOAD and counts from the start, or it is loaded by dlopen and counts from
 * mallometer_attach() on. This header is its only public interface (the ABI); the Java bridge uses nothing else. The
 * header compiles as C99 and as C++17.
 *
 * Definitions used throughout
 *   event       A successful malloc, calloc, memalign, ... is one allocation. free(p) with p != NULL is
 *               one free. A successful realloc(p, n) with p != NULL is one free and one allocation, also
 *               when the object stays in place; realloc(NULL, n) is one allocation; realloc(p, 0) that
 *               returns NULL and frees p is one free. A call that fails is only counted as failed.
 *               (When C++'s new fails, the C++ library tries again: each try counts.)
 *               free(NULL) is nothing.
 *   requested   What callers asked for, in bytes. Allocations only: free() is not told the requested size.
 *   allocated,  What was handed out and given back, in one common unit, so that their difference is the
 *   freed, live memory in use. The unit is stated by mallometer_report.byte_unit.
 *   size class  Classes divide allocations by requested size. Class i < 19 holds sizes up to and including
 *               2^(4+i) bytes (16 B, 32 B, ... 4 MiB) that no smaller class holds; class 19 all above.
 *   small       Requested size of at most the page size of 4096 bytes (classes 0 to 8); large is the rest.
 *
 * Counters start with the process or with mallometer_attach(), only grow, wrap at 2^64, and are never reset: a bracket
 * around a piece of work is the difference of two snapshots (mallometer_difference).
 *
 * Versioning: a program may call a library only if mallometer_abi_version() returns the MALLOMETER_ABI_VERSION that the
 * program was compiled with; mallometer_available() (mallometer_optional.h) compares them.
 *
 * An error "not preloaded" means that the library was neither preloaded nor attached.
 *
 * Unless a function says otherwise it may be called from any thread and from signal handlers, does not allocate, takes
 * no lock, leaves errno alone, and returns 0 or a negative errno value.
 */
#ifndef MALLOMETER_H
#define MALLOMETER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The checksum of the declarations below. The build says which it must be (interposer/abi/GenerateAbi.java). */
#define MALLOMETER_ABI_VERSION 0x84204f18u
#define MALLOMETER_SIZE_CLASSES 20
/* The first class that is not small. */
#define MALLOMETER_FIRST_LARGE_CLASS 9

/* Whether the library counts, and if not, why. */
enum mallometer_state {
  MALLOMETER_STATE_COUNTING = 1,
  /* By MALLOMETER_ENABLED=false or mallometer_disable(). */
  MALLOMETER_STATE_DISABLED = 2,
  /* Loaded without being the process's malloc: neither preloaded nor attached, or beside a sanitizer's. Nothing is
   * counted. */
  MALLOMETER_STATE_NOT_PRELOADED = 3,
  /* MALLOMETER_ONLY does not name this executable: every call is only forwarded. */
  MALLOMETER_STATE_EXCLUDED = 4,
  /* The program's C library is neither glibc nor musl: every call is only forwarded. */
  MALLOMETER_STATE_UNSUPPORTED = 5
};

/* How the library came to count. */
enum mallometer_mode {
  /* The library does not count. */
  MALLOMETER_MODE_NONE = 0,
  /* By LD_PRELOAD; counting began with the process. */
  MALLOMETER_MODE_PRELOADED = 1,
  /* mallometer_attach(): from the attach. */
  MALLOMETER_MODE_ATTACHED = 2
};

/* What one byte of allocated, freed and live means. */
enum mallometer_byte_unit {
  /* malloc_usable_size() of the object, which the allocator returns at each event. */
  MALLOMETER_UNIT_USABLE = 1,
  /* The same for glibc, read from the chunk header; before 2.43 objects that glibc maps singly count 8 bytes more. */
  MALLOMETER_UNIT_GLIBC_CHUNK = 2,
  /* The requested size, kept in a header before the object (MALLOMETER_ACCOUNTING=header). */
  MALLOMETER_UNIT_REQUESTED = 3
};

/* Bits of mallometer_counters.flags. */
enum mallometer_snapshot_flags {
  /* Counting was off for some time, so live and peak bytes are unknown. Never cleared. */
  MALLOMETER_INCOMPLETE = 1u,
  /* The memory allocated before mallometer_attach() is unknown: live_bytes lacks up to baseline_error_bytes. */
  MALLOMETER_BASELINE_UNKNOWN = 2u
};

struct mallometer_counters {
  /* CLOCK_MONOTONIC at the beginning of the reading, in nanoseconds. */
  uint64_t monotonic_ns;
  /* Bits of mallometer_snapshot_flags. */
  uint32_t flags;
  /* Threads that have counted something and have not ended. 1 in a thread snapshot. */
  uint32_t threads;
  /* Events. */
  uint64_t allocations[MALLOMETER_SIZE_CLASSES];
  uint64_t frees;
  uint64_t failed;
  /* Bytes. */
  uint64_t requested_bytes;
  uint64_t allocated_bytes;
  uint64_t freed_bytes;
  /*
   * The highest live bytes since the process started, or since mallometer_attach(). The true peak is at most
   * peak_error_bytes higher, and at most that much lower; after an attach baseline_error_bytes come on top. 0 in a
   * thread snapshot.
   */
  uint64_t peak_live_bytes;
  uint64_t peak_error_bytes;
  /*
   * The largest successful request since the process started, once one exceeded 32 KiB; 0 until then and in a
   * thread snapshot.
   */
  uint64_t largest_request_bytes;
  /* Successful requests above MALLOMETER_HUGE bytes. 0 in a thread snapshot. */
  uint64_t huge_allocations;
  /* CLOCK_MONOTONIC of the latest mallometer_attach(), in nanoseconds; 0 if counting began with the process, and in a
   * thread snapshot. */
  uint64_t since_ns;
  /* Live bytes, those that were allocated before mallometer_attach() included; never negative. After an attach
   * over glibc each object counts with its size word of 8 bytes, as glibc counts: so this is baseline_bytes and, of
   * what was counted since then, allocated_bytes - freed_bytes + 8 * (allocations - frees). Without attach it is
   * allocated_bytes - freed_bytes. 0 in a thread snapshot; in a bracket that of its end.
   */
  uint64_t live_bytes;
  /*
   * Live bytes when the latest mallometer_attach() began to count, and the largest error of that figure;
   * mallometer_attach_check() corrects both when threads are less busy. 0 without attach. With
   * MALLOMETER_BASELINE_UNKNOWN it is 0, and may have been up to baseline_error_bytes.
   */
  uint64_t baseline_bytes;
  uint64_t baseline_error_bytes;
};

struct mallometer_report {
  /* enum mallometer_state */
  uint32_t state;
  /* enum mallometer_byte_unit */
  uint32_t byte_unit;
  /*
   * Memory that the library has mapped in this process, resident or not: its image with its tables, thread blocks, the
   * tables of call sites and of evidence, the stacks of its threads, and what slots in use take beyond their objects.
   * Not the recording's file, which is page cache, nor addresses that are only reserved.
   */
  uint64_t footprint_bytes;
  /* Time spent in mallometer_snapshot, on samples (sampling_ns) and by the library's threads since the process started,
   * in nanoseconds.
   */
  uint64_t overhead_ns;
  /* Threads whose events share one slower block because the table of thread blocks (65,536) was full. */
  uint64_t threads_without_block;
  /* Requests above this size, in bytes, count as huge_allocations (MALLOMETER_HUGE). */
  uint64_t huge_threshold_bytes;
  /* NUL-terminated. The library's version, such as "0.1.0-SNAPSHOT". */
  char build[32];
  /* NUL-terminated. The object that serves the allocations, such as "glibc 2.36" or "jemalloc 5.3.0". */
  char allocator[64];
  /* NUL-terminated. The reason for the state, or the parts that are off and why; empty if none is. */
  char reason[160];
  /* MALLOMETER_SAMPLE_INTERVAL, in bytes; 0 if nothing is sampled. */
  uint64_t sample_interval_bytes;
  /* Sampled allocations. */
  uint64_t samples;
  /* Bytes that the samples stand for: an unbiased estimate of allocated_bytes. */
  uint64_t sampled_bytes;
  /* Allocations that the sampler stopped at, all at first and later one in up to 128, and whose call path had no room
   * in its table (16,384), because all paths in it were in use within ten seconds: sampled by their size alone, as if
   * they had one call path. */
  uint64_t samples_by_size_only;
  /*
   * The first counts samples of call sites for which there was no room. There is room for 16,384 (see
   * mallometer_site.number); from half full on, the first sample of a new call site must stand for 4 KiB, in the last
   * quarter for 64 KiB. The second counts samples that could not be followed until they are freed: there was no room,
   * or they were freed past the library, as the next sample at their address shows.
   */
  uint64_t samples_without_site;
  uint64_t samples_not_followed;
  /* Sampled objects that are live. */
  uint32_t live_samples;
  uint32_t call_sites;
  /*
   * Samples of call sites whose stack had more frames than are kept: 128 native ones, 512 of Java. While more than half
   * of the room for call sites is taken, 8 are kept of stacks without Java frames, and 7 in the last quarter.
   */
  uint64_t samples_truncated;
  /* Samples of Java threads whose Java frames the JVM did not return, or which had too little stack left for the walk.
   */
  uint64_t samples_without_java;
  /*
   * Time spent on samples, on allocations that the sampler stopped at, and to clear the slots of sampled objects, in
   * nanoseconds; part of overhead_ns. It is estimated, since no exact clock may be read
   * inside of malloc: what samples do is counted, and billed the time that a unit of it takes. The library's
   * threads measure that (of mallometer_leaks_start() and mallometer_record()); without them it is the 25 ns of
   * docs/explanation/cost.md.
   */
  uint64_t sampling_ns;
  /* MALLOMETER_OVERHEAD_TARGET in millionths of one processor's time; 0 if there is no target. */
  uint32_t overhead_target_ppm;
  /* Factor by which the sampling probabilities of rare code are reduced to meet the target, in millionths. */
  uint32_t sampling_share_ppm;
  /* Java methods in stacks, and loaded objects (executable, libraries) in stacks. */
  uint32_t methods;
  uint32_t modules;
  /* enum mallometer_java_state */
  uint32_t java;
  uint32_t reserved;
  /* Part of footprint_bytes: the tables of call sites, one mapping that no other memory joins. */
  uint64_t tables_bytes;
  /* Java frames whose method found no room (16,384), and native frames whose module did (1,024): they have no names. */
  uint64_t frames_without_method;
  uint64_t frames_without_module;
  /*
   * Samples of call sites without a stack, which share one site: the thread was on another stack than its own (a
   * coroutine's, an alternate one), or of its own too little was left to follow it.
   */
  uint64_t samples_without_stack;
  /* enum mallometer_mode */
  uint32_t mode;
  /* After mallometer_attach(): words of loaded objects that led to malloc and its relatives and lead to the library. */
  uint32_t words;
  /* Words that the system did not let change; after a detach, words that still lead to the library, which forwards the
   * calls. */
  uint32_t words_refused;
  /* Calls that the loader has rewritten to jump past their word (glibc.cpu.plt_rewrite): they are not counted, and no
   * figure is exact if there are any. */
  uint32_t calls_unseen;
  /* CLOCK_MONOTONIC in nanoseconds, as in mallometer_counters. */
  uint64_t since_ns;
  /* For how long the latest look at all words held the lock of the dynamic loader, in nanoseconds: dlopen and dlsym of
   * other threads waited for it. */
  uint64_t attach_lock_ns;
  /*
   * Bytes by which glibc's own figure of live bytes exceeded live_bytes at the latest comparison in
   * mallometer_attach_check(), which runs so seldom that it takes less than 0.1 % of the time. Differences up to
   * drift_bound_bytes are normal. The bound is the sum of the errors of both readings and of 1,600 bytes for each
   * thread, which glibc and the loader allocate. A larger difference means that calls are not seen, and `reason` says
   * "incomplete". Both are 0 before the first comparison.
   */
  int64_t drift_bytes;
  uint64_t drift_bound_bytes;
  /*
   * The addresses that are reserved for slots of sampled objects (0 if there are none); the bytes of the pages of slots
   * in use; and the bytes of these pages beyond their objects, which are part of footprint_bytes.
   */
  uint64_t slots_address;
  uint64_t slots_reserved_bytes;
  uint64_t slots_taken_bytes;
  uint64_t slots_excess_bytes;
};

/* Whether stacks have Java frames. */
enum mallometer_java_state {
  /* MALLOMETER_STACKS does not ask for them, or mallometer_jvm_attach() was not called. */
  MALLOMETER_JAVA_OFF = 0,
  MALLOMETER_JAVA_ON = 1,
  /* The JVM has no frames to give, or its end has begun. */
  MALLOMETER_JAVA_GONE = 2
};

/* Whether the process records its last hour in a file that outlives it (MALLOMETER_RECORDING,
 * docs/reference/recording.md). */
enum mallometer_recording_state {
  MALLOMETER_RECORDING_OFF = 0,
  MALLOMETER_RECORDING_ON = 1,
  /* Recording was requested and is off; `reason` says why. */
  MALLOMETER_RECORDING_FAILED = 2
};

struct mallometer_recording_status {
  /* enum mallometer_recording_state */
  uint32_t state;
  uint32_t reserved;
  /* The number of this run in the file's header, which no other run has; 0 while off. */
  uint64_t life;
  /* NUL-terminated. The absolute path while on or failed. */
  char path[1024];
  /* NUL-terminated. Why it failed. */
  char reason[256];
};

#define MALLOMETER_EVENT_FRAMES 16

/* One request above MALLOMETER_HUGE. */
struct mallometer_event {
  /* 1 for the process's first; equal to huge_allocations when it happened. */
  uint64_t number;
  /* CLOCK_REALTIME in nanoseconds, at the latest tick of the kernel: 1 to 10 ms before at most. */
  uint64_t realtime_ns;
  uint64_t requested_bytes;
  /* The kernel's thread id. */
  uint32_t thread_id;
  /* Valid entries of stack; 0 if it was not recorded (MALLOMETER_STACKS=off, or as mallometer_report's
   * samples_without_stack). */
  uint32_t frames;
  /* NUL-terminated. */
  char thread_name[16];
  /* Return addresses, innermost first; up to the first that belongs to no loaded object, such as compiled Java code. */
  uint64_t stack[MALLOMETER_EVENT_FRAMES];
};

enum mallometer_allocator_kind {
  MALLOMETER_ALLOCATOR_UNKNOWN = 0,
  MALLOMETER_ALLOCATOR_GLIBC = 1,
  MALLOMETER_ALLOCATOR_JEMALLOC = 2,
  MALLOMETER_ALLOCATOR_TCMALLOC = 3,
  MALLOMETER_ALLOCATOR_MIMALLOC = 4
};

/* A figure that the allocator does not report. */
#define MALLOMETER_UNKNOWN UINT64_MAX

/*
 * Figures that the allocator reports, in bytes; MALLOMETER_UNKNOWN where it does not report one.
 *
 * system = used + retained + overhead of the allocator, as far as it tells. Retained memory is virtual: glibc's does
 * not fall when a trim gives its pages back, so it must not be taken for resident. The same holds for glibc's
 * releasable memory: pages in it that were given back and not used since are still in the figure.
 */
struct mallometer_allocator_state {
  /* enum mallometer_allocator_kind */
  uint32_t kind;
  /* Number of rows that were filled. */
  uint32_t rows;
  /* Arenas that exist. */
  uint64_t arenas;
  /* Obtained from the system and not returned, singly mapped objects included. */
  uint64_t system_bytes;
  /* Live objects of the program, with the allocator's own overhead for each. */
  uint64_t used_bytes;
  /* Free and kept for later requests. */
  uint64_t retained_bytes;
  /* Objects that are mapped singly; part of used. */
  uint64_t mapped_bytes;
  /* Part of retained: whole pages that a trim would give back, if they are resident. */
  uint64_t releasable_bytes;
  /* Resident bytes as the allocator reports them (jemalloc). */
  uint64_t resident_bytes;
  /* Trims by mallometer_trim() since the process started. */
  uint64_t trims;
};

/* One arena of glibc. */
struct mallometer_arena {
  /* 0 is the main one. */
  uint64_t number;
  /* Bytes, as above. */
  uint64_t system_bytes;
  uint64_t retained_bytes;
  uint64_t releasable_bytes;
  /* Part of retained: free at the end. */
  uint64_t top_bytes;
};

/*
 * Sums over samples. A sample that was taken with probability p counts as 1/p objects, so objects and bytes are
 * estimates without bias; the variances are those of the estimates, estimated too (a 95 % interval is +- 1.96 times the
 * root, above some 30 samples). With MALLOMETER_SAMPLE_INTERVAL=1 they are exact and the variances 0.
 */
struct mallometer_site_sums {
  uint64_t samples;
  double objects;
  double bytes;
  double objects_variance;
  double bytes_variance;
};

/*
 * Code that allocates, identified by its whole stack. Ignore a row with neither frames nor samples: two threads met the
 * same new stack at once.
 */
struct mallometer_site {
  /*
   * A site keeps its number, and no other site ever gets it. When half of the room is taken, mallometer_self() and
   * mallometer_sites() from row 0 on forget the sites whose latest sample is oldest: at most a quarter of all at once,
   * none with a live sample, none with a sample in the last 10 s. A site that takes the room of a forgotten one gets
   * its number plus 16,384, so the numbers of all known sites differ modulo 16,384.
   */
  uint32_t number;
  /* Frames of its stack, see mallometer_site_stack(). */
  uint32_t frames;
  /* Live figures are the differences, also those of the variances. */
  struct mallometer_site_sums allocated;
  struct mallometer_site_sums freed;
};

/* An executable or library, noted when a stack first led through it. */
struct mallometer_module {
  uint32_t number;
  uint32_t build_id_bytes;
  /* Its first address and the one behind its last, and what the loader added to addresses in the file. 0, 0, 0: none.
   */
  uint64_t begin;
  uint64_t end;
  uint64_t bias;
  uint8_t build_id[32];
  /* NUL-terminated, as the loader knows it. Empty for the executable. */
  char path[1024];
};

#define MALLOMETER_METHOD_LINES 1024

/* A Java method's name. */
struct mallometer_method {
  /* NUL-terminated, each cut where it does not fit. The class as in its file: Ljava/util/zip/Deflater; */
  char class_signature[768];
  char name[256];
  /* Empty if the class file does not name it. */
  char source[256];
  /* Pairs of a bytecode index and the line that begins there. */
  uint32_t line_count;
  uint32_t reserved;
  uint32_t lines[MALLOMETER_METHOD_LINES][2];
};

/* A sampled object that is live. */
struct mallometer_object {
  /* In the unit of mallometer_report.byte_unit. */
  uint64_t bytes;
  /* It stands for 1 / probability objects like it. */
  double probability;
  /* CLOCK_MONOTONIC in nanoseconds, to some ten milliseconds. */
  uint64_t born_ns;
  uint32_t site;
  uint32_t reserved;
  /*
   * The probability with which this sample was put into a page slot, where accesses to it are seen: for figures of
   * slots alone, it stands for 1 / (probability * placement) objects. 0: it is in no slot, or the program has locked it
   * (mlock(2)), so accesses to it are unknown.
   */
  double placement;
  /*
   * CLOCK_MONOTONIC at the end of the latest epoch in which the program or the kernel accessed it; its birth if there
   * was no access. It was not accessed between this moment and mallometer_observation.epoch_end_ns, both to some ten
   * milliseconds. 0 if accesses to it are unknown.
   */
  uint64_t last_access_ns;
};

/* Whether accesses to objects are observed (docs/explanation/leaks.md). */
enum mallometer_leaks_state {
  /* mallometer_leaks_start() was not called, or was taken back, or MALLOMETER_LEAKS=off. */
  MALLOMETER_LEAKS_OFF = 0,
  /* The library's thread tests the system's features, or is about to resume. */
  MALLOMETER_LEAKS_STARTING = 1,
  MALLOMETER_LEAKS_ON = 2,
  /* Off for good; `reason` says why. */
  MALLOMETER_LEAKS_FAILED = 3
};

/* The way in which the accessed bits of slots are cleared. */
enum mallometer_leaks_method { MALLOMETER_LEAKS_BY_COLD = 1, MALLOMETER_LEAKS_BY_CLEAR_REFS = 2 };

/* Slots of 4 KiB, 64 KiB, 1 MiB, 16 MiB. */
#define MALLOMETER_SLOT_CLASSES 4

/* State of the observation. All times are nanoseconds, those of moments CLOCK_MONOTONIC. */
struct mallometer_observation {
  /* enum mallometer_leaks_state */
  uint32_t state;
  /* enum mallometer_leaks_method; 0 while off */
  uint32_t method;
  /* When the first epoch began, or the first after mallometer_leaks_stop() had ended them; 0 before. */
  uint64_t started_ns;
  /* Epochs that ended since then, and those of them in which the kernel itself cleared accessed bits: they have no
   * result.
   */
  uint64_t epochs;
  uint64_t void_epochs;
  /* End of the latest epoch with a result, and the planned length of the present one. */
  uint64_t epoch_end_ns;
  uint64_t epoch_ns;
  /* Processor time of the library's thread; part of mallometer_report.overhead_ns. */
  uint64_t cpu_ns;
  /* Address space that is reserved, what of it slots in use take in whole pages, and what they may take beyond the
   * bytes of their objects. */
  uint64_t arena_bytes;
  uint64_t resident_bytes;
  uint64_t limit_bytes;
  uint32_t slots_in_use[MALLOMETER_SLOT_CLASSES];
  uint32_t slots[MALLOMETER_SLOT_CLASSES];
  /* Samples that were put into slots, and those that were not although it was their turn: no slot or no memory was
   * left for them, or they were too large. */
  uint64_t placed;
  uint64_t not_placed;
  uint64_t too_large;
  /* Slots that the allocator unmapped, because their object was freed past the hook. */
  uint64_t retired;
  /* Whether mallometer_watch() can work: 1, or 0 and `watch_reason`. */
  uint32_t can_watch;
  uint32_t reserved;
  /* NUL-terminated; empty if nothing is off. While on, `reason` says why accesses are not seen at present, or why no
   * further objects are observed. */
  char reason[160];
  char watch_reason[160];
};

/*
 * Durations of one kind. Bucket 0 holds those below 2^-5.5 s, bucket i those from 2^(i/2 - 6) s on, up to where the
 * next begins, the last all above.
 */
#define MALLOMETER_DURATION_BUCKETS 48
struct mallometer_durations {
  /* Number of durations seen. */
  uint64_t count;
  /* Number that they stand for: sums of 1 / (probability * placement). */
  float weight[MALLOMETER_DURATION_BUCKETS];
};

/* How long a call site's objects live and are idle, from those in slots. */
struct mallometer_site_evidence {
  uint32_t site;
  uint32_t reserved;
  /* Objects of the site that were ever put into a slot, and those of them that were freed. */
  uint64_t placed;
  uint64_t freed;
  /* From birth to free. */
  struct mallometer_durations lifetimes;
  /* From the end of the latest epoch in which the object was accessed, to its free. */
  struct mallometer_durations idle_before_free;
  /* From the end of such an epoch to the end of the next, for objects that were accessed again after a whole epoch
   * without an access. */
  struct mallometer_durations gaps;
};

#define MALLOMETER_ACCESS_FRAMES 64

enum mallometer_access_kind { MALLOMETER_ACCESS = 1, MALLOMETER_WRITE = 2 };

/* The latest access that a watchpoint saw at an object of a call site. */
struct mallometer_access {
  uint32_t site;
  /* enum mallometer_access_kind: the latest access of either kind, or the latest write */
  uint32_t kind;
  /* CLOCK_MONOTONIC in nanoseconds, at the latest tick of the kernel, the object's birth as well. */
  uint64_t monotonic_ns;
  uint64_t born_ns;
  /* The kernel's thread id. */
  uint32_t thread_id;
  uint32_t frames;
  /* NUL-terminated. */
  char thread_name[16];
  /* As mallometer_site_stack() returns them; the first is the instruction behind the access. */
  uint64_t stack[MALLOMETER_ACCESS_FRAMES];
};

/* State of a search for lost objects (mallometer_search_start). */
enum mallometer_search_state {
  /* None was started. */
  MALLOMETER_SEARCH_NONE = 0,
  MALLOMETER_SEARCH_RUNNING = 1,
  MALLOMETER_SEARCH_DONE = 2,
  /* The latest one ended without a result; `reason` says why. */
  MALLOMETER_SEARCH_FAILED = 3
};

/* The latest search. Times are nanoseconds, those of moments CLOCK_MONOTONIC. */
struct mallometer_searched {
  /* enum mallometer_search_state */
  uint32_t state;
  /* 1 for the process's first. */
  uint32_t number;
  uint64_t began_ns;
  /* 0 while it runs. */
  uint64_t ended_ns;
  /* Processor time of the library's threads; part of mallometer_report.overhead_ns. */
  uint64_t cpu_ns;
  /*
   * Bytes that were read, and bytes to read: those in memory, and writable for the program; all without the library's
   * own tables. If more than a few pages were not read (the limit was reached), objects without references may have
   * some in the rest. The same holds for swapped bytes, which cannot be read; if their number is unknown, the search
   * fails. Where the process may not read /proc/self/pagemap, shared mappings are not read; the part of them that any
   * process has in memory is among the resident bytes. Cached pages of privately mapped files become resident then.
   */
  uint64_t searched_bytes;
  uint64_t resident_bytes;
  uint64_t swapped_bytes;
  /* Number of rows, and of live samples of the sites that found no room: 8,192 rows, shared evenly by the sites. */
  uint32_t objects;
  uint32_t left_out;
  /* NUL-terminated. */
  char reason[160];
};

/* A sampled object that was live when the search began. */
struct mallometer_sought {
  /* A number of the object, the same in each search of this process. It does not reveal the address. */
  uint64_t id;
  /* As in mallometer_object. */
  uint64_t bytes;
  double probability;
  uint64_t born_ns;
  uint32_t site;
  /*
   * Words in memory that point into the object, those in the object itself left out: aligned, with any upper 16 bits.
   * 0: no address of it was found.
   */
  uint32_t references;
  /* 1 if it was no longer live at the end of the search: its references mean nothing. */
  uint32_t freed;
  uint32_t reserved;
};

/* ---- Owners -------------------------------------------------------------------------------------------- */

/* What mallometer_owners_step() does next. */
enum mallometer_owners_step {
  /* Walks over the Java heap once, for Java longs that are addresses of the samples. Stops the JVM. */
  MALLOMETER_OWNERS_HOLDERS = 1,
  /* Follows other longs through native memory to samples that no Java long holds. The program runs meanwhile. */
  MALLOMETER_OWNERS_POINTERS = 2,
  /* Walks over the Java heap for what the step before has found. Stops the JVM. */
  MALLOMETER_OWNERS_POINTER_HOLDERS = 3,
  /* Finds what refers to the objects found last: one link. Stops the JVM. */
  MALLOMETER_OWNERS_REFERRERS = 4
};

/* How a search for the Java objects that hold samples stands. */
struct mallometer_owners {
  /* Samples that were live when the search began, at most 4,096; and for how many more there was no room. */
  uint32_t samples;
  uint32_t samples_left_out;
  /* Of these samples, those that are no longer live: what was found of them means nothing. */
  uint32_t samples_freed;
  /* Rows there are. */
  uint32_t holds;
  uint32_t objects;
  uint32_t links;
  /* Rows and values for which there was no room. */
  uint32_t left_out;
  /* Values that may lead to samples through native memory; and, after MALLOMETER_OWNERS_POINTERS, pairs of a value and
   * a sample that it leads to. */
  uint32_t candidates;
  uint32_t pointers;
  /* Objects whose referrers the next MALLOMETER_OWNERS_REFERRERS looks for, and of how many classes: 0, 1, or 2 for
   * more. */
  uint32_t next_objects;
  uint32_t next_classes;
  /* 0, or -errno why MALLOMETER_OWNERS_POINTERS is not possible here. */
  int32_t pointers_error;
  /* How long the latest walk took, the wait until all Java threads stood still included, in nanoseconds. */
  uint64_t walk_ns;
};

#define MALLOMETER_NONE UINT32_MAX

/* A Java long that holds a sample's address. */
struct mallometer_hold {
  /* From 0 on, below mallometer_owners.samples. */
  uint32_t sample;
  /* 1 if that is no longer live. */
  uint32_t freed;
  /* The object that has the long; MALLOMETER_NONE: a static field. */
  uint32_t object;
  /* Names of the object's class, or of the class of the static field, and of the field; MALLOMETER_NONE: unknown, or an
   * element of an array. */
  uint32_t class_name;
  uint32_t field_name;
  /* Steps through native memory from what the long points to, to the sample. */
  uint32_t steps;
};

/* Bits of mallometer_heap_object.kinds. */
enum mallometer_heap_object_kinds {
  MALLOMETER_HEAP_OBJECT_CLASS = 1u,
  MALLOMETER_HEAP_OBJECT_THREAD = 2u,
  /* A java.lang.ref.Reference, and which. */
  MALLOMETER_HEAP_OBJECT_REFERENCE = 4u,
  MALLOMETER_HEAP_OBJECT_SOFT = 8u,
  MALLOMETER_HEAP_OBJECT_PHANTOM = 16u,
  MALLOMETER_HEAP_OBJECT_FINAL = 32u
};

/* Bits of mallometer_heap_object.flags. */
enum mallometer_heap_object_flags {
  /* Its referrers have been looked for: those that there are links of, and more if MORE is set. */
  MALLOMETER_HEAP_OBJECT_EXPANDED = 1u,
  MALLOMETER_HEAP_OBJECT_MORE = 2u,
  /* A walk for referrers has reached it, so it was no garbage. */
  MALLOMETER_HEAP_OBJECT_REACHED = 4u,
  /* Its referrers are to be looked for, or have been. */
  MALLOMETER_HEAP_OBJECT_FOLLOWED = 8u
};

/* A Java object. */
struct mallometer_heap_object {
  /* Of its class; of an object of class Class that of the class which it is. */
  uint32_t class_name;
  uint32_t kinds;
  uint32_t flags;
  /* Links from an object that has an address. */
  uint32_t level;
};

/* A reference to an object. */
struct mallometer_heap_link {
  uint32_t object;
  /* MALLOMETER_NONE: a root. */
  uint32_t referrer;
  /* As jvmtiHeapReferenceKind: 2 field, 3 array element, 8 static field, 21 JNI global, 23 monitor, 24 local variable,
   * 25 JNI local, 26 thread, and others. */
  uint32_t kind;
  /* Of the field, or of the method whose local variable it is; MALLOMETER_NONE: unknown. */
  uint32_t name;
  /* The number that Java knows the thread by whose local variable it is; 0: none. */
  uint64_t thread;
};

/* Rows of mallometer_owners_rows(). */
enum mallometer_owners_rows {
  /* struct mallometer_hold, mallometer_heap_object, mallometer_heap_link */
  MALLOMETER_OWNERS_HOLDS = 1,
  MALLOMETER_OWNERS_OBJECTS = 2,
  MALLOMETER_OWNERS_LINKS = 3
};

/* Settings that mallometer_configure() changes. */
enum mallometer_option {
  /* Millionths of one processor's time that samples may take; 0: any. */
  MALLOMETER_OPTION_OVERHEAD_TARGET = 1,
  /* MALLOMETER_SAMPLE_INTERVAL in bytes; not to or from 1, which must hold from the start to be exact. With 2 to 8, and
   * an overhead target of 0, all later allocations are sampled. */
  MALLOMETER_OPTION_SAMPLE_INTERVAL = 2,
  /* The shortest epoch, in milliseconds, at least 10. 5,000 by default. */
  MALLOMETER_OPTION_SHORTEST_EPOCH = 3,
  /* How many times as long as its processor time an epoch is at least, 10 to 1,000,000. 1,000 by default: 0.1 %. */
  MALLOMETER_OPTION_EPOCH_OVER_COST = 4
};

#ifndef MALLOMETER_API
#define MALLOMETER_API __attribute__((visibility("default")))
#endif

/*
 * Starts counting in a running process that was not preloaded. The library was loaded by dlopen, best with
 * RTLD_NOW | RTLD_LOCAL. Calls of malloc and the functions of its family are redirected to the library by pointers in
 * data: of all loaded objects, the C library's included, and of those that are loaded later. No code is changed and no
 * thread is stopped; threads that load libraries or look functions up wait for 1 to 50 ms. Objects allocated before may
 * be freed as usual.
 *
 * Called again while attached, it does what mallometer_attach_check() does.
 *
 * 0: it counts. Otherwise nothing was changed, and mallometer_report.reason says why:
 * -EALREADY: the library counts already by preload, or another copy of it counts; -EBUSY: another thread attaches or
 * detaches, or threads fork all the time; -ECHILD: in the child of a fork, which has loaded nothing itself; -EPERM: the
 * environment forbids it (MALLOMETER_ATTACH=off, or a value that is not known; MALLOMETER_ENABLED=false;
 * MALLOMETER_ONLY; MALLOMETER_ACCOUNTING=header); -ENOTSUP: not over this C library or this malloc; -EACCES: the system
 * forbids changes to the pointers. Allocates, and enters the loader. Not for signal handlers.
 */
MALLOMETER_API int mallometer_attach(void);

/*
 * Checks an attached process; call it every few seconds. If the loader has loaded or unloaded objects since
 * the latest time, it looks for words that have come to lead past the library, as mallometer_attach() does, and once
 * more 5 s later; otherwise that costs about a microsecond. It also compares live bytes with glibc's own figure, so
 * seldom that this takes less than 0.1 % of the time.
 *
 * 0: it counts. -ENODATA: not attached, which it never changes: another part of the program may have detached. -EBUSY,
 * -ECHILD as above. -EACCES: new words cannot be changed; it is detached then, and mallometer_report.reason says why.
 * Enters the loader. Not for signal handlers.
 */
MALLOMETER_API int mallometer_attach_check(void);

/*
 * Puts every word back and stops counting; counters keep their values. The library's code stays loaded, and forwards
 * calls from code that has noted its address. mallometer_attach() may be called again, and begins a new peak and
 * baseline. -ENODATA: not attached; -EBUSY, -ECHILD as above; -EACCES: words that the system does not allow to change
 * still lead to the library. If /proc/self/maps cannot be read all do; then it may be called again. Enters the loader.
 * Not for signal handlers.
 */
MALLOMETER_API int mallometer_detach(void);

/* Returns the MALLOMETER_ABI_VERSION that the library was built with. */
MALLOMETER_API uint32_t mallometer_abi_version(void);

/*
 * Reads the counters of the whole process. Frees are summed before allocations, so live bytes are never negative,
 * although other threads go on counting. About 25 ns a thread block. -EINVAL: snapshot is NULL.
 */
MALLOMETER_API int mallometer_snapshot(struct mallometer_counters *snapshot);

/*
 * Reads the counters of the calling thread: its own events, including frees of objects that other threads
 * allocated, so freed_bytes may exceed allocated_bytes. Under 1 us. If it is the thread's first act it takes the
 * thread's block, which may map memory, and allocate where 32 thread keys existed before ours.
 * -EINVAL as above; -EAGAIN: this thread has no block of its own (the table is full, or the thread is past the
 * first round of its destructors); -ENODATA: not preloaded, excluded or unsupported.
 */
MALLOMETER_API int mallometer_thread_snapshot(struct mallometer_counters *snapshot);

/*
 * Stops counting in every thread, until mallometer_enable() or a mallometer_attach() after a detach. Live and peak
 * bytes are unknown from then on, also after mallometer_enable(). A thread that is in the middle of an event may count
 * that event. -ENODATA: not preloaded, excluded or unsupported.
 */
MALLOMETER_API int mallometer_disable(void);

/* Counts again. -ENODATA: not preloaded, excluded or unsupported. */
MALLOMETER_API int mallometer_enable(void);

/*
 * Copies the latest huge requests (above MALLOMETER_HUGE bytes) whose numbers are above `after`, oldest first, at most
 * `capacity`. 64 are kept; a gap in the numbers shows how many were missed. Returns how many were copied; -EINVAL:
 * events is NULL.
 */
MALLOMETER_API int mallometer_events(struct mallometer_event *events, uint32_t capacity, uint64_t after);

/*
 * Call sites are recorded from the start in programs that refer to mallometer_sites, mallometer_site_stack,
 * mallometer_objects, mallometer_modules, mallometer_leaks_start, mallometer_search_start or mallometer_jvm_attach, and
 * where MALLOMETER_STACKS or MALLOMETER_SAMPLE_INTERVAL is set; in JVMs from when libjvm.so is opened; elsewhere from
 * the first call of one of these functions on. They need 10 MiB, which are reserved when recording begins. They are not
 * reserved while RLIMIT_AS or RLIMIT_DATA leaves less than 64 times as much; each call tries again.
 *
 * Copies rows of call sites from row `first` on, at most `capacity`; at most 16,384 are known. A site keeps its row. A
 * reading begins with row 0. Callers ignore rows without samples. Returns how many were copied; -EINVAL: sites is NULL;
 * -ENODATA: call sites are not recorded (MALLOMETER_STACKS, MALLOMETER_SAMPLE_INTERVAL=0, or there is no memory:
 * mallometer_report.reason).
 */
MALLOMETER_API int mallometer_sites(struct mallometer_site *sites, uint32_t capacity, uint32_t first);

/*
 * Copies the frames of a call site, innermost first, at most `capacity`: return addresses up to the first that belongs
 * to no loaded object, then Java frames. A Java frame has its highest bit set, which no address has. The lowest 16 bits
 * are the bytecode index (0xffff: unknown, or a native method); the bits between are the number of the method for
 * mallometer_method_name() (all ones: unknown). Where compiled code calls by the foreign-function interface the JVM is
 * asked for the true frames, if the calling thread is one of its threads; there may then be more or fewer than the site
 * says. Returns how many; -EINVAL: frames is NULL, or there is no such site, or it was forgotten; -ENODATA as above.
 */
MALLOMETER_API int mallometer_site_stack(uint32_t number, uint64_t *frames, uint32_t capacity);

/*
 * Copies the modules whose numbers are `first` and above, at most `capacity`; at most 1,024 are known. Returns how
 * many; -EINVAL: modules is NULL; -ENODATA as above.
 */
MALLOMETER_API int mallometer_modules(struct mallometer_module *modules, uint32_t capacity, uint32_t first);

/*
 * Copies live samples, at most `capacity`; at most 69,632 exist. Objects that are allocated or freed during the call
 * may be missing. Returns how many; -EINVAL: objects is NULL; -ENODATA as above.
 */
MALLOMETER_API int mallometer_objects(struct mallometer_object *objects, uint32_t capacity);

/*
 * Adds Java frames to stacks recorded after this call. Called by a thread of the JVM, in which it takes some 20 ms: the
 * JVM makes ids for all methods. Does nothing the second time. Allocates. Not for signal handlers. -ENODATA: call sites
 * are not recorded; -EPERM: MALLOMETER_STACKS=native; -ESRCH: no JVM in this process, or the calling thread is none of
 * its threads; -ENOTSUP: the JVM has no AsyncGetCallTrace or refuses its tools interface, or there is no memory for its
 * methods; -EBUSY: another thread is in this function.
 */
MALLOMETER_API int mallometer_jvm_attach(void);

/*
 * Asks the JVM for the name of a method; numbers are consecutive from 0. Called by a thread of the JVM. Call it soon:
 * after the class is unloaded there is no answer. Allocates. Not for signal handlers. -EINVAL: method is NULL, or no
 * method has that number yet; -ESRCH: the class was unloaded; -ENODATA: not attached, or the calling thread is not the
 * JVM's.
 */
MALLOMETER_API int mallometer_method_name(uint32_t number, struct mallometer_method *method);

/*
 * Starts a thread that observes whether sampled objects are accessed; mallometer_leaks reports whether that works.
 * Further calls are only counted. Starts a thread; not for signal handlers. -ENODATA: call sites are not recorded, or
 * MALLOMETER_LEAKS=off; -EAGAIN: no thread could be started; try again.
 */
MALLOMETER_API int mallometer_leaks_start(void);

/*
 * Takes back one mallometer_leaks_start() that returned 0. When all are taken back, epochs, watchpoints and new slots
 * stop until the next start; then the objects in slots count as just accessed. The thread stays, and sleeps. -ENODATA:
 * no start is left to take back.
 */
MALLOMETER_API int mallometer_leaks_stop(void);

/* Reads the state of the observation. -EINVAL: out is NULL. */
MALLOMETER_API int mallometer_leaks(struct mallometer_observation *out);

/*
 * Copies the evidence on call sites' objects; numbers are consecutive from 0, at most 8,192 are known. Ignore a row of
 * which nothing was placed: two threads met the same new site at once. Returns how many were copied; -EINVAL: evidence
 * is NULL; -ENODATA: nothing is observed.
 */
MALLOMETER_API int mallometer_evidence(struct mallometer_site_evidence *evidence, uint32_t capacity, uint32_t first);

/*
 * Starts to record the latest accesses to objects of these call sites, by hardware watchpoints on the youngest ones in
 * slots; at most 4 sites; 0 sites end it. Not for signal handlers. -EINVAL: too many, or sites is NULL; -ENODATA:
 * nothing is observed; -ENOTSUP: mallometer_observation.watch_reason.
 */
MALLOMETER_API int mallometer_watch(const uint32_t *sites, uint32_t count);

/*
 * Copies the accesses that watchpoints saw, at most two for each site that was ever watched, 128 in all. Returns how
 * many; -EINVAL: accesses is NULL; -ENODATA as above.
 */
MALLOMETER_API int mallometer_accesses(struct mallometer_access *accesses, uint32_t capacity);

/*
 * Searches the process's memory once for addresses of live samples of these call sites, 1 to 64, in a thread of the
 * library that takes a tenth of one processor, about 0.35 s of its time for each GiB; memory beyond `most_bytes` is not
 * read. Objects without references are lost, unless their address is in a register, moves during the search, is
 * encoded, not aligned, swapped out, or known to the kernel alone; so only several objects of a site, in two searches,
 * are evidence. Lost objects that point to each other have references. During an observation the search begins when the
 * present epoch ends, and makes it void: slots are read, too. Starts a thread; not for signal handlers. -EINVAL: sites
 * is NULL, or count is not 1 to 64; -EBUSY: a search runs; -ENODATA: call sites are not recorded; -ECHILD: in the child
 * of a fork; -EAGAIN: no thread could be started, or there is no memory.
 */
MALLOMETER_API int mallometer_search_start(const uint32_t *sites, uint32_t count, uint64_t most_bytes);

/*
 * Reads the state of the latest search and, when it is done, copies its objects, at most `capacity` (`rows` may be NULL
 * if it is 0). Returns how many were copied; -EINVAL: out is NULL, or rows is NULL and capacity is not 0.
 */
MALLOMETER_API int mallometer_search(struct mallometer_searched *out, struct mallometer_sought *rows,
                                     uint32_t capacity);

/* Changes an enum mallometer_option. -EINVAL: there is no such option, or it cannot have that value. */
MALLOMETER_API int mallometer_configure(uint32_t option, uint64_t value);

/* Reads the state and cost of mallometer itself. -EINVAL: self is NULL. */
MALLOMETER_API int mallometer_self(struct mallometer_report *self);

/*
 * Starts to record into a file: a thread of the library writes the counters once a second. mallometer_recording reports
 * whether that works, also after -EIO. Opens files and starts a thread; not for signal handlers. -EINVAL: path is NULL,
 * empty or longer than 700 bytes; -EBUSY: this process records already, or is starting to; -ENODATA: not preloaded,
 * excluded or unsupported; -EIO: it failed.
 */
MALLOMETER_API int mallometer_record(const char *path);

/* Reads whether the process records, and where. -EINVAL: out is NULL. */
MALLOMETER_API int mallometer_recording(struct mallometer_recording_status *out);

/*
 * Asks the allocator for its figures, and glibc for those of at most `capacity` arenas (`rows` may be NULL if it is 0).
 * May allocate (that is counted, and freed again) and takes the allocator's locks, one arena after the other, for about
 * 150 ns for each free chunk; a thread that allocates waits while its arena is read. Not for signal handlers. -EINVAL:
 * out is NULL, or rows is NULL and capacity is not 0; -ENODATA: not preloaded; -ENOTSUP: the allocator has no such
 * figures.
 */
MALLOMETER_API int mallometer_allocator(struct mallometer_allocator_state *out, struct mallometer_arena *rows,
                                        uint32_t capacity);

/*
 * Asks the allocator to give free memory back to the system. Takes about as long as reading its figures, and a tenth
 * of a millisecond for each MiB given back, with the allocator's locks held. Not for signal handlers.
 * -ENODATA: not preloaded; -ENOTSUP: the allocator cannot.
 */
MALLOMETER_API int mallometer_trim(void);

/* ---- Scopes ------------------------------------------------------------------------------------------- */

/* Options of mallometer_scope_open(); bits. */
enum mallometer_scope_options {
  /* Over the calling thread. */
  MALLOMETER_SCOPE_THREAD = 0,
  /* Over the process instead. */
  MALLOMETER_SCOPE_PROCESS = 1u,
  /* Frees are matched with allocations by address. Not over the process. */
  MALLOMETER_SCOPE_MATCHED = 2u
};

/* Bits of mallometer_scope.flags. */
enum mallometer_scope_flags {
  /* Counting was off for some time within the scope: net, peak and matches are unknown, and 0. */
  MALLOMETER_SCOPE_INCOMPLETE = 1u,
  /* The figures from temporary_allocations on are known. */
  MALLOMETER_SCOPE_HAS_MATCHES = 2u,
  /* These figures are unknown, and 0: more than 49,152 objects of the scope were live at once, or a signal handler
   * allocated or freed while the table was changed. */
  MALLOMETER_SCOPE_OVERFLOWED = 4u,
  /* The thread has ended, and these are its figures at that time. */
  MALLOMETER_SCOPE_ENDED = 8u
};

/* Figures of a scope; events, requested, allocated and freed bytes are as in mallometer_counters. */
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
  /*
   * Change of live bytes: allocated_bytes - freed_bytes, in a process that was attached over glibc with 8
   * more for each object of the scope over the process, as in mallometer_counters.live_bytes.
   */
  int64_t net_bytes;
  /* The most by which live bytes exceeded those at the beginning; never below 0. */
  uint64_t peak_bytes;
  /* The true peak is at most this much higher or lower; 0 over a thread, where the peak is exact. */
  uint64_t peak_error_bytes;
  /* The largest successful request. */
  uint64_t largest_bytes;
  /* The true size may be this much lower: over the process only its size class is known. 0 over a thread. */
  uint64_t largest_error_bytes;
  /*
   * With MALLOMETER_SCOPE_HAS_MATCHES. Temporary: allocated and freed within the scope, by its thread. Retained: the
   * other allocations, also of objects that other threads freed. Foreign: frees of objects that were not allocated
   * within the scope. If another thread frees an object of the scope and allocates a new one at
   * the same address, which the scope's thread frees, that free counts for the old object.
   */
  uint64_t temporary_allocations;
  uint64_t temporary_bytes;
  uint64_t retained_allocations;
  uint64_t retained_bytes;
  uint64_t foreign_frees;
  uint64_t foreign_freed_bytes;
};

/*
 * Opens a scope and returns its number, which is greater than 0. Scopes can nest, overlap and be closed in any order;
 * each has the figures of its own time. Takes under 1 us over a thread. Until a thread's scope is closed, each event of
 * that thread takes up to 40 instructions more; with MALLOMETER_SCOPE_MATCHED about 95 on average, a table of 512 KiB
 * is mapped when it opens and unmapped when it closes, and the realloc of all threads takes a longer path. Over the
 * process the counters of all threads are read several times. The first scope reserves 2.3 MB, of which used pages
 * become resident. A scope that a signal handler opens is of the interrupted thread.
 *
 * A scope whose thread ends keeps its figures until it is closed, or until 4,096 scopes exist and there is no other
 * room. It includes destructors of thread keys that run before the library's. A forked child has its thread's scopes
 * and those of the process, and must close them too; the scopes of other threads have ended there.
 *
 * -EINVAL: there are no such options; -ENODATA: nothing is counted now; -EAGAIN: 4,096 scopes are open, or 32 over the
 * process, or the calling thread has no block of its own as in mallometer_thread_snapshot(), or on aarch64 a signal
 * handler calls this that interrupted an allocation or a free; -ENOMEM: there is no memory for the table, or a limit
 * leaves little.
 */
MALLOMETER_API int mallometer_scope_open(uint32_t options);

/*
 * Reads an open scope, from any thread. An event that happens meanwhile in another thread, or in a signal handler that
 * interrupts the opening or the reading, may be counted in part. -EINVAL: no such scope is open, or `figures` is NULL.
 */
MALLOMETER_API int mallometer_scope_read(uint32_t number, struct mallometer_scope *figures);

/*
 * Copies the live samples among the objects that a matched scope retained, at most `capacity`. They say which call
 * sites these objects are of, as far as they were sampled (MALLOMETER_SAMPLE_INTERVAL). Call this from the scope's own
 * thread while the scope is open. Returns how many were copied; -EINVAL: no such scope is open, or objects is NULL;
 * -EPERM: it is another thread's; -ENODATA: it has no matches, or call sites are not recorded.
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
 * Functions of the program that the library calls at every event, in the thread of the event and inside of its malloc
 * or free. Each event calls each monitor once, whichever function the program called; what is an event, and what its
 * sizes are, is as for the counters. A realloc calls `freed`, then `allocated`, both after the object has moved:
 * another thread may be given the old address, and its `allocated` may be called, before this `freed` is. A malloc
 * calls `allocated` before it returns, every other free calls `freed` before the object is given back.
 *
 * A callback may compute, use atomic operations, write to memory of its own that exists already, and call
 * mallometer_snapshot(). It may allocate and free: that is counted and calls no monitor, nor do signal handlers that
 * interrupt the callback. It may change errno. It must return, and in short time, for the program waits.
 * A callback must not take a lock that a thread may hold while it allocates or frees, for then it would wait for itself
 * or for a thread that waits for it: the allocator's, the loader's (dlopen, dlsym, first use of a lazily bound
 * function), stdio's. It must not call Java, nor fork, leave by longjmp or an exception, end the thread, or register or
 * unregister monitors. A cancellation point such as write() may end a thread that is cancelled. It must not read or
 * write the object: it may be sampled, and of a free it may be gone. Several threads call it at once.
 */

/* `requested`: what the program asked for; `actual`: what allocated_bytes counts, in mallometer_report.byte_unit. */
typedef void mallometer_allocated(void *context, void *object, size_t requested, size_t actual);
/* `actual`: what freed_bytes counts. The object may have been allocated before the monitor was registered. */
typedef void mallometer_freed(void *context, void *object, size_t actual);

struct mallometer_monitor {
  /* Passed to both functions. */
  void *context;
  /* One of them may be NULL. */
  mallometer_allocated *allocated;
  mallometer_freed *freed;
};

/*
 * Registers a monitor, which is copied, and returns its number, which is greater than 0. It hears of the events that
 * begin afterwards; of one that another thread is in the middle of it may not hear, or of a realloc's allocation only.
 * Waits, without a lock and for a second at most, for other threads that are just choosing a path. While any is
 * registered all threads take a longer path (docs/reference/monitors.md has the instructions); while none is, nothing.
 * Monitors stay registered while counting is off, and hear of nothing then. A forked child has them too: its callbacks
 * find a copy of the context.
 *
 * -EINVAL: monitor is NULL, or it has no function; -ENODATA: not preloaded, excluded or unsupported; -EAGAIN: 8 are
 * registered.
 */
MALLOMETER_API int mallometer_monitor_register(const struct mallometer_monitor *monitor);

/*
 * Unregisters a monitor. After 0 none of its functions runs or will be called: the context may be freed, and the code
 * unloaded. Waits, without a lock, for callbacks that run in other threads. Of threads that unregister the same monitor
 * at the same time one gets 0, the others -EBUSY or -EINVAL at once.
 * -EINVAL: no such monitor is registered; -EBUSY: a callback did not return within a second, or this was called within
 * a callback: the monitor is not called again, but its context must stay until another call returns 0.
 */
MALLOMETER_API int mallometer_monitor_unregister(uint32_t number);

/*
 * A mallometer_allocated for monitors whose context is an array of MALLOMETER_SIZE_CLASSES uint64_t: adds 1 to the
 * class of the actual size, as mallometer_counters.allocations has those of requested sizes. Atomic.
 */
MALLOMETER_API void mallometer_count_actual(void *context, void *object, size_t requested, size_t actual);

/*
 * Thresholds: who asked for so much? From now on the library keeps requests above `bytes` with their native stacks: the
 * first 64 after each reading, for any reader. Later ones are counted. `thread` is the number of the thread whose
 * requests these are, as gettid(2) returns it, or 0 for all threads; requests of other threads take no place and are
 * not counted. A thread that is started after that one has ended may be given its number. Requests that another thread
 * is in the middle of may be missed. A request above costs some hundred instructions more, and one that is kept the
 * walk of its stack; others cost nothing, unless `bytes` is below 32,768: then all events take the longer path that
 * they take while a monitor is registered. A forked child has the thresholds, too; its thread has another number. Waits
 * as mallometer_monitor_register() does.
 *
 * Returns a number above 0; -EINVAL: bytes is 0 or above PTRDIFF_MAX; -ENODATA: not preloaded, excluded or unsupported;
 * -EAGAIN: 8 are open.
 */
MALLOMETER_API int mallometer_threshold_open(uint64_t bytes, uint32_t thread);

/*
 * Copies what was kept since the last reading, oldest first, at most `capacity`; what exceeds that comes at the next
 * reading. Events are numbered from 1 on: a gap in the numbers shows what was missed. `total`, unless it is NULL, is
 * set to the number of all its requests above the size since the threshold was opened. One thread at a time may read a
 * threshold. Returns how many were copied; -EINVAL: events is NULL, or no such threshold.
 */
MALLOMETER_API int mallometer_threshold_read(uint32_t number, struct mallometer_event *events, uint32_t capacity,
                                             uint64_t *total);

/* Closes it; its number may be given out again. 0; -EINVAL: no such threshold. */
MALLOMETER_API int mallometer_threshold_close(uint32_t number);

/* ---- Owners -------------------------------------------------------------------------------------------- */

/*
 * Begins to search for the Java objects that hold live samples of a call site: makes a tools environment of the JVM
 * that may tag objects, and reserves 10 MiB. All these functions are called by threads of the JVM, one at a time, and
 * allocate; none is for signal handlers. Whoever begins ends with mallometer_owners_end().
 *
 * -EINVAL: out is NULL; -EBUSY: a search is under way; -ENODATA: call sites are not recorded, or the site has no live
 * samples; -ESRCH: no JVM in this process, or the calling thread is none of its threads; -ENOTSUP: the JVM refuses;
 * -ENOMEM: no memory, or a limit leaves little.
 */
MALLOMETER_API int mallometer_owners_begin(uint32_t site, struct mallometer_owners *out);

/*
 * Does one step. Steps come in the order of enum mallometer_owners_step; MALLOMETER_OWNERS_REFERRERS may be done after
 * each, and again, but none of the others after it. Those that walk over the heap stop the program for about a second
 * and more for each GiB of live objects, and nothing can end them early: the caller estimates that before. -EINVAL: as
 * above, or not the time for this step; -ENODATA: no search, or nothing whose referrers are unknown; -EPERM: native
 * memory cannot be read (mallometer_owners.pointers_error); -ENOMEM, -ESRCH, -EIO: the JVM did not do it.
 */
MALLOMETER_API int mallometer_owners_step(uint32_t step, struct mallometer_owners *out);

/*
 * Copies rows of an enum mallometer_owners_rows, at most `capacity`. Returns how many; -EINVAL: no such rows, or rows
 * is NULL; -ENODATA: no search.
 */
MALLOMETER_API int mallometer_owners_rows(uint32_t kind, void *rows, uint32_t capacity);

/*
 * Copies the NUL-terminated text of a name's number, cut to `bytes`. 0; -EINVAL: name is NULL, bytes is 0, or no such
 * number; -ENODATA: no search.
 */
MALLOMETER_API int mallometer_owners_name(uint32_t number, char *name, uint32_t bytes);

/* Ends the search, and gives back what it took. -ENODATA: there is none. */
MALLOMETER_API int mallometer_owners_end(void);

/* ---- Derived figures ---------------------------------------------------------------------------------- */

/* The largest requested size of a size class, in bytes; UINT64_MAX for the last. */
static inline uint64_t mallometer_class_limit(unsigned size_class) {
  return size_class + 1 < MALLOMETER_SIZE_CLASSES ? (uint64_t)16 << size_class : UINT64_MAX;
}

/* Successful allocations in the classes from first (included) to end (excluded). */
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
 * For a thread or a bracket the net change, which may be negative. For the process, bytes in use if it was preloaded;
 * mallometer_counters.live_bytes knows what was there before an attach, too.
 */
static inline int64_t mallometer_live_bytes(const struct mallometer_counters *s) {
  return (int64_t)(s->allocated_bytes - s->freed_bytes);
}

/*
 * A bracket: what happened between two snapshots of the same kind. Peak, largest, flags, live and
 * baseline bytes are those of `end`.
 * `result` may be the same object as `start` or `end`.
 */
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

#endif /* MALLOMETER_H */
