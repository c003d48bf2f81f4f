/* Stores a baseline (the live bytes of each call site) while memory hardly grows, and finds and describes rises. See
 * burst.h. */
#include "control/burst.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jvm/attach.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "sample/call_sites.h"
#include "sample/latest_samples.h"
#include "sample/stack_tree.h"

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)
/* The recorder's thread looks regularly whether memory rises. A look takes 10 to 30 us, mostly to wake up. The
 * thread pauses between looks for QUIET_PAUSE, for TIGHT_PAUSE if more than half of the memory limit is charged, or
 * for RISING_PAUSE during a rise. */
#define QUIET_PAUSE (100 * MILLISECOND)
#define TIGHT_PAUSE (50 * MILLISECOND)
#define RISING_PAUSE (5 * MILLISECOND)
/* During a rise, the pause is at least this multiple of the CPU time of the latest look. Looks then take at most 2.5
 * % of a processor. */
#define PAUSE_OF_COST 40u
/* A rise that lasts longer is no longer sudden. The thread then pauses for TIGHT_PAUSE, instead of RISING_PAUSE,
 * between looks at memory. */
#define SUDDEN_TIME (15 * SECOND)
/* A rise ends when memory has not grown for this time. */
#define STILL_TIME (3 * SECOND)
/* A baseline (the memory before a rise) of this age is replaced even while memory grows. Slow growth is therefore
 * not a rise. */
#define OLDEST_BASELINE (10 * SECOND)
/* The least growth that is a rise: a 16th of the memory limit, but at least 8 MiB, or 64 MiB without a limit. */
#define LEAST_RISE (UINT64_C(8) << 20)
#define LEAST_RISE_WITHOUT_LIMIT (UINT64_C(64) << 20)
/* Growth below least_rise / STEPS is ignored. During a rise, growth below half of this threshold is ignored. */
#define STEPS 8u
#define MOST_FRAMES 700u
#define MOST_THREADS 8u
#define MOST_THREAD_NAMES 16u
/* burst_names() first requests the names of the FIRST_FRAMES innermost frames of each site, then those of the
 * remaining frames. */
#define FIRST_FRAMES 5u
#define MOST_NAMES (RECORDING_MOST_SITES * RECORDING_MOST_FRAMES)
/* The call sites explain a rise if they grew by at least the rise divided by this number. */
#define LEAST_EXPLAINED 4u

/* The memory before a rise: the live bytes of each site, and totals. burst_second() replaces it, and so does the end
 * of a rise. */
static struct {
  uint32_t number[MOST_SITES];
  double live_bytes[MOST_SITES];
  uint32_t places;
  uint64_t monotonic_ns;
  uint64_t used_bytes;
  uint64_t sampled_bytes;
  uint64_t samples;
} baseline;

static bool rising;
static bool is_hurried;    /* true if samples come fast; the next look then follows after RISING_PAUSE */
static uint64_t looked_at; /* the bytes sampled between note_baseline() and the latest burst_look() */
static bool tight;         /* set if more than half of the memory limit is charged */
static uint64_t least_rise = LEAST_RISE_WITHOUT_LIMIT;
static uint64_t begin_ns; /* the latest time at which memory had not risen yet */
static uint64_t highest;
static uint64_t highest_ns; /* the time at which memory last grew */
static uint64_t described;  /* the memory when the rise was last described, in bytes */
static bool is_explained;
static bool is_written;
static uint64_t look_ns; /* the thread's CPU time when burst_look() last began to read the memory */

/* The latest description of a rise. `version` is odd while it is written. */
static struct recording_burst description;
static uint32_t version;

/* describe() fills `draft`, and publish() copies it to `description`. `copy` is a copy of `description` for the
 * thread that asks the JVM for names. */
static struct recording_burst draft, copy;
static uint64_t frames_of_a_site[MOST_FRAMES];
static struct mallometer_method asked;

/* The stack frames whose method names have been requested from the JVM. They belong to the rise of memory that began
 * at `begin_ns`. Used by no thread but the one that requests the names. */
static struct {
  uint64_t begin_ns;
  uint64_t frames[MOST_NAMES];
  uint32_t count;
  size_t bytes;
} named;

void burst_start(void) {
  memory_touch(&baseline, sizeof baseline);
  memory_touch(&description, sizeof description);
  memory_touch(&draft, sizeof draft);
  memory_touch(&copy, sizeof copy);
  memory_touch(frames_of_a_site, sizeof frames_of_a_site);
  memory_touch(&asked, sizeof asked);
  memory_touch(&named, sizeof named);
  latest_samples_keep();
}

/* Returns the anonymous memory. The charged bytes would hide a rise at the memory limit, because the kernel then
 * drops cached files to make room. */
static uint64_t used_bytes(void) { return process_memory().anonymous; }

static uint64_t difference(uint64_t one, uint64_t other) { return one > other ? one - other : other - one; }

/* ---- The baseline, stored while memory hardly grows ----------------------------------------------------- */

static void note_baseline(uint64_t used, uint64_t now) {
  baseline.places = call_sites_places();
  baseline.sampled_bytes = latest_samples_bytes();
  baseline.samples = latest_samples_count();
  for (uint32_t i = 0; i < baseline.places; i++) {
    baseline.live_bytes[i] = call_site_live_bytes(i, &baseline.number[i]);
  }
  looked_at = 0;
  baseline.used_bytes = used;
  baseline.monotonic_ns = begin_ns = now;
}

/* Returns whether a new baseline would differ from the present one. Making a baseline takes time, because it reads
 * the live bytes of all sites. */
static bool has_changed(uint64_t used) {
  return latest_samples_bytes() - baseline.sampled_bytes >= least_rise / 64 ||
         difference(used, baseline.used_bytes) >= least_rise / 64;
}

static uint64_t least_rise_below(uint64_t limit) {
  if (limit == RECORDING_UNKNOWN) return LEAST_RISE_WITHOUT_LIMIT;
  return limit / 16 > LEAST_RISE ? limit / 16 : LEAST_RISE;
}

void burst_second(const struct memory_reading *reading) {
  static uint64_t before;
  uint64_t now = monotonic_ns(), charged = reading->charged_bytes, used = used_bytes();
  least_rise = least_rise_below(reading->limit_bytes);
  bool is_quiet = used < before + least_rise / STEPS;
  before = used;
  tight =
      reading->limit_bytes != RECORDING_UNKNOWN && charged != RECORDING_UNKNOWN && charged > reading->limit_bytes / 2;
  if (rising || used == RECORDING_UNKNOWN) return;
  if (now - baseline.monotonic_ns >= OLDEST_BASELINE || (is_quiet && has_changed(used))) note_baseline(used, now);
}

bool burst_leaves_room(const struct memory_reading *reading) {
  uint64_t charged = reading->charged_bytes, files = reading->file_bytes;
  if (charged == RECORDING_UNKNOWN || reading->limit_bytes == RECORDING_UNKNOWN) return true;
  if (files != RECORDING_UNKNOWN) charged = charged > files ? charged - files : 0;
  return charged / 4 < reading->limit_bytes / 5;
}

uint64_t burst_pause_ns(void) {
  if (is_hurried) return RISING_PAUSE;
  uint64_t longest = tight || rising ? TIGHT_PAUSE : QUIET_PAUSE;
  if (!rising) return longest;
  uint64_t least = is_explained && monotonic_ns() - begin_ns < SUDDEN_TIME ? RISING_PAUSE : longest;
  uint64_t pause = PAUSE_OF_COST * (thread_cpu_ns() - look_ns);
  return pause > least ? pause : least;
}

/* ---- The description of a rise -------------------------------------------------------------------------- */

static uint64_t growth_at(uint32_t place, uint32_t *number) {
  double live = call_site_live_bytes(place, number);
  bool is_known = place < baseline.places && baseline.number[place] == *number;
  double growth = is_known ? live - baseline.live_bytes[place] : live;
  return growth > 0 ? (uint64_t)growth : 0;
}

/* Keeps the list sorted by growth. If the list is full, drops the site that grew least. */
static void insert(struct recording_burst *burst, uint32_t site, uint64_t growth) {
  uint32_t at = burst->sites < RECORDING_MOST_SITES ? burst->sites++ : RECORDING_MOST_SITES - 1;
  if (burst->grown[at].live_bytes > growth) return;
  for (; at > 0 && burst->grown[at - 1].live_bytes < growth; at--) {
    burst->grown[at].site = burst->grown[at - 1].site;
    burst->grown[at].live_bytes = burst->grown[at - 1].live_bytes;
  }
  burst->grown[at].site = site;
  burst->grown[at].live_bytes = growth;
}

static uint64_t choose_sites(struct recording_burst *burst) {
  uint32_t places = call_sites_places();
  uint64_t sum = 0;
  for (uint32_t i = 0; i < places; i++) {
    uint32_t site;
    uint64_t growth = growth_at(i, &site);
    sum += growth;
    if (growth > 0) insert(burst, site, growth);
  }
  return sum;
}

/*
 * Copies a site's frames from the innermost Java frame on, or from the innermost frame on if there is no Java frame.
 */
static void copy_stack(struct recording_grown *grown) {
  uint64_t *frames = frames_of_a_site;
  int count = call_site_stack(grown->site, frames, MOST_FRAMES), first = 0;
  while (first < count && !(is_java_frame(frames[first]) && has_bytecode(frames[first]))) first++;
  if (first >= count) first = 0;
  for (int i = first; i < count && grown->frames < RECORDING_MOST_FRAMES; i++) {
    if (frames[i] >> 62 != 3)
      grown->stack[grown->frames++] = frames[i]; /* frames with both top bits set only mark a foreign-function call */
  }
}

/* The sampled bytes that each thread allocated at a site. Threads beyond the first MOST_THREADS are not counted. */
struct tally {
  uint32_t thread[MOST_THREADS];
  uint64_t bytes[MOST_THREADS];
};

static void count(struct tally *tally, uint32_t thread, uint64_t bytes) {
  for (unsigned i = 0; i < MOST_THREADS; i++) {
    if (tally->thread[i] == 0) tally->thread[i] = thread;
    if (tally->thread[i] != thread) continue;
    tally->bytes[i] += bytes;
    return;
  }
}

static uint32_t most_of(const struct tally *tally) {
  unsigned most = 0;
  for (unsigned i = 1; i < MOST_THREADS; i++) most = tally->bytes[i] > tally->bytes[most] ? i : most;
  return tally->thread[most];
}

/* The names of the threads that allocated during the present rise of memory. They are stored because reading a name
 * opens a file of /proc. */
static struct {
  uint32_t thread[MOST_THREAD_NAMES];
  char name[MOST_THREAD_NAMES][RECORDING_THREAD_NAME_BYTES];
  uint32_t count;
} thread_names;

static const char *name_of(uint32_t thread) {
  uint32_t at = 0;
  while (at < thread_names.count && thread_names.thread[at] != thread) at++;
  if (at < thread_names.count) return thread_names.name[at];
  at = thread_names.count < MOST_THREAD_NAMES ? thread_names.count++ : thread % MOST_THREAD_NAMES;
  thread_names.thread[at] = thread;
  thread_name_of(thread, thread_names.name[at]);
  return thread_names.name[at];
}

static void find_threads(struct recording_burst *burst) {
  struct tally tallies[RECORDING_MOST_SITES] = {0};
  uint64_t last = latest_samples_count(), next = last > LATEST_SAMPLES ? last - LATEST_SAMPLES : 0;
  if (next < baseline.samples) next = baseline.samples;
  while (++next <= last) {
    struct latest_sample sample;
    if (!latest_sample_read(next, &sample) || sample.thread == 0) continue;
    for (uint32_t i = 0; i < burst->sites; i++) {
      if (burst->grown[i].site == sample.site) count(&tallies[i], sample.thread, sample.bytes);
    }
  }
  for (uint32_t i = 0; i < burst->sites; i++) {
    struct recording_grown *grown = &burst->grown[i];
    grown->thread = most_of(&tallies[i]);
    if (grown->thread) memcpy(grown->thread_name, name_of(grown->thread), sizeof grown->thread_name);
  }
}

static const struct recording_burst *publish(const struct recording_burst *burst) {
  __atomic_store_n(&version, version + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  description = *burst;
  __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
  return &description;
}

/* Describes a rise of memory. With `is_freed` (its memory has been freed again), the description has no call sites.
 * Without `is_freed`, returns NULL if the call sites explain less than a quarter of the rise, which means that the
 * Java heap or mappings grew. */
static const struct recording_burst *describe(uint64_t used, const struct memory_cgroup *cgroup, uint64_t limit,
                                              bool is_freed) {
  uint64_t charged = limit != RECORDING_UNKNOWN ? memory_charged(cgroup) : used;
  uint64_t risen = used > baseline.used_bytes ? used - baseline.used_bytes : 0;
  struct recording_burst *burst = &draft;
  memset(burst, 0, sizeof *burst);
  described = used;
  burst->begin_monotonic_ns = begin_ns;
  burst->begin_bytes = charged > risen ? charged - risen : 0;
  burst->charged_bytes = charged;
  burst->limit_bytes = limit;
  if (!is_freed) {
    is_explained = choose_sites(burst) >= risen / LEAST_EXPLAINED;
    if (!is_explained) return NULL;
    for (uint32_t i = 0; i < burst->sites; i++) copy_stack(&burst->grown[i]);
    find_threads(burst);
  }
  is_written = true;
  return publish(burst);
}

/* ---- Looking for a rise --------------------------------------------------------------------------------- */

static bool begins(uint64_t used, uint64_t now) {
  uint64_t risen = used > baseline.used_bytes ? used - baseline.used_bytes : 0;
  if (risen < least_rise / STEPS) begin_ns = now;
  return risen >= least_rise;
}

static const struct recording_burst *follow(uint64_t used, const struct memory_cgroup *cgroup, uint64_t limit,
                                            uint64_t now) {
  if (used < baseline.used_bytes + least_rise / 2) {
    rising = false;
    const struct recording_burst *end = is_written ? describe(used, cgroup, limit, true) : NULL;
    note_baseline(used, now);
    return end;
  }
  if (used >= highest + least_rise / STEPS / 2) {
    highest = used;
    highest_ns = now;
  }
  bool is_new = difference(used, described) >= least_rise / 64;
  const struct recording_burst *grown = is_new ? describe(used, cgroup, limit, false) : NULL;
  if (now - highest_ns > STILL_TIME) {
    rising = false;
    note_baseline(used, now);
  }
  return grown;
}

const struct recording_burst *burst_look(const struct memory_cgroup *cgroup, const struct memory_reading *known,
                                         uint64_t now) {
  if (!baseline.monotonic_ns || !call_sites_on()) return NULL;
  uint64_t sampled = latest_samples_bytes() - baseline.sampled_bytes;
  if (!rising && sampled < least_rise / 2) {
    if (sampled < least_rise / STEPS) begin_ns = now;
    is_hurried = sampled >= looked_at + least_rise / STEPS;
    looked_at = sampled;
    return NULL;
  }
  is_hurried = false;
  look_ns = thread_cpu_ns();
  uint64_t used = used_bytes(), limit = known->limit_bytes;
  if (used == RECORDING_UNKNOWN) return NULL;
  if (rising) return follow(used, cgroup, limit, now);
  if (!begins(used, now)) return NULL;
  rising = true;
  is_written = false;
  thread_names.count = 0;
  highest = used;
  highest_ns = now;
  return describe(used, cgroup, limit, false);
}

bool burst_goes_on(void) { return rising && is_written && description.sites > 0; }

/* ---- Names of methods ----------------------------------------------------------------------------------- */

static bool copy_description(struct recording_burst *to) {
  uint32_t before = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
  if (before % 2 != 0) return false;
  *to = description;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&version, __ATOMIC_RELAXED) == before;
}

static bool is_named(uint64_t frame) {
  for (uint32_t i = 0; i < named.count; i++) {
    if (named.frames[i] == frame) return true;
  }
  return false;
}

/* Returns the source line of a frame; 0 if the line is unknown or the frame stands for a compilation of the method. */
static uint32_t line_of(const struct mallometer_method *method, uint64_t frame) {
  uint32_t line = 0, begin = 0, bytecode = (uint32_t)frame & UNKNOWN_BYTECODE;
  if (is_compiled_frame(frame)) return 0;
  for (uint32_t i = 0; i < method->line_count; i++) {
    if (method->lines[i][0] > bytecode || method->lines[i][0] < begin) continue;
    begin = method->lines[i][0];
    line = method->lines[i][1];
  }
  return line;
}

/* Returns whether there was room for the line. A frame without a name needs no room. */
static bool append(uint64_t frame, char *text, size_t capacity) {
  memset(&asked, 0, sizeof asked);
  if (jvm_describe_method((uint32_t)(frame >> 16) & INT32_MAX, &asked) != 0) return true;
  size_t room = capacity - named.bytes;
  int length = snprintf(text + named.bytes, room, "%016" PRIx64 "\t%s\t%s\t%s\t%" PRIu32 "\n", frame,
                        asked.class_signature, asked.name, asked.source, line_of(&asked, frame));
  if (length < 0 || (size_t)length >= room) return false;
  named.bytes += (size_t)length;
  return true;
}

/* Records each frame before it requests the frame's name, so that no name is requested twice. Returns false if there
 * was no room for a line. */
static bool append_frames(const struct recording_burst *burst, uint32_t first, uint32_t end, char *text,
                          size_t capacity) {
  bool is_full = false;
  for (uint32_t i = 0; i < burst->sites; i++) {
    for (uint32_t j = first; j < end && j < burst->grown[i].frames; j++) {
      uint64_t frame = burst->grown[i].stack[j];
      if (!is_java_frame(frame) || frame >> 62 == 3 || is_named(frame)) continue;
      if (named.count == MOST_NAMES) return false;
      named.frames[named.count++] = frame;
      is_full = is_full || !append(frame, text, capacity);
    }
  }
  return !is_full;
}

static bool append_missing(const struct recording_burst *burst, char *text, size_t capacity) {
  bool has_room = append_frames(burst, 0, FIRST_FRAMES, text, capacity);
  return append_frames(burst, FIRST_FRAMES, RECORDING_MOST_FRAMES, text, capacity) && has_room;
}

size_t burst_names(char *text, size_t capacity) {
  const struct recording_burst *burst = &copy;
  if (!copy_description(&copy)) return 0;
  if (burst->begin_monotonic_ns != named.begin_ns) {
    named.begin_ns = burst->begin_monotonic_ns;
    named.count = 0;
    named.bytes = 0;
  }
  size_t before = named.bytes;
  if (append_missing(burst, text, capacity)) return named.bytes > before ? named.bytes : 0;
  /* The text is full, and some of its lines belong to sites that are no longer in the description. The text is
   * therefore replaced by the lines of the present sites. */
  named.count = 0;
  named.bytes = 0;
  append_missing(burst, text, capacity);
  return named.bytes;
}
