/* Writes the samples of each second, the records that Java passes, and the record of the exit. See recording.h. */
#include "control/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/own_thread.h"
#include "control/burst.h"
#include "control/burst_line.h"
#include "control/log.h"
#include "control/recording_file.h"
#include "control/snapshot.h"
#include "control/termination_message.h"
#include "jvm/attach.h"
#include "jvm/java_thread.h"
#include "platform/clock.h"
#include "platform/executable.h"
#include "platform/files.h"
#include "platform/kernel.h"
#include "platform/libc.h"
#include "platform/memory.h"
#include "platform/wait.h"
#include "sample/latest_samples.h"
#include "sample/sampler.h"

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)
#define LONGEST_PATH 700u
/* Whether 80 % of the memory limit is charged. All amounts of memory are then read each second, otherwise every 10
 * s. */
#define IS_NEAR_LIMIT(charged, limit) ((charged) / 4 >= (limit) / 5)
/* The termination message is written from 85 % of the limit on, until less than 80 % is used. */
#define IS_SCARCE(used, limit, is_written) ((used) / ((is_written) ? 16 : 17) >= (limit) / 20)
/* The shortest time between two termination messages: RISING_MESSAGE_PAUSE if memory rises fast and the message has
 * new content, otherwise MESSAGE_PAUSE. */
#define MESSAGE_PAUSE SECOND
#define RISING_MESSAGE_PAUSE (10 * MILLISECOND)
/* The seconds between two searches for the cgroup: the process may be moved to another one. */
#define SECONDS_BETWEEN_SEARCHES 60

enum region { SECONDS, TENS, MINUTES, EXIT, SHUTDOWN, JVM, DOCUMENTS, EXCEEDED, PROFILES, BURST, NAMES, REGIONS };

static const struct recording_region layout[REGIONS] = {
    [SECONDS] = {RECORDING_SAMPLES, sizeof(struct recording_sample), 12288, 600, 0, SECOND},
    [TENS] = {RECORDING_SAMPLES, sizeof(struct recording_sample), 90112, 360, 0, 10 * SECOND},
    [MINUTES] = {RECORDING_SAMPLES, sizeof(struct recording_sample), 139264, 1440, 0, 60 * SECOND},
    [EXIT] = {RECORDING_EXIT, sizeof(struct recording_sample), 4096, 1, 0, 0},
    [SHUTDOWN] = {RECORDING_SHUTDOWN, 128, 8192, 1, 0, 0},
    [JVM] = {RECORDING_JVM, RECORDING_DOCUMENT_BYTES, 323584, 1, 0, 0},
    [DOCUMENTS] = {RECORDING_MINUTES, RECORDING_DOCUMENT_BYTES, 339968, 60, 0, 60 * SECOND},
    [EXCEEDED] = {RECORDING_EXCEEDED, RECORDING_DOCUMENT_BYTES, 1323008, 24, 0, 0},
    [PROFILES] = {RECORDING_PROFILES, RECORDING_PROFILE_BYTES, 1716224, 5, 0, 0},
    [BURST] = {RECORDING_BURST, RECORDING_BURST_SLOT_BYTES, 2064384, 2, 0, 0},
    [NAMES] = {RECORDING_NAMES, RECORDING_NAMES_SLOT_BYTES, 2072576, 2, 0, 0},
};
_Static_assert(REGIONS <= RECORDING_REGIONS, "the table in the file's header has room for all regions");
_Static_assert(1323008 + 24 * RECORDING_DOCUMENT_BYTES <= 1716224, "the regions do not overlap");
_Static_assert(1716224 + 5 * RECORDING_PROFILE_BYTES <= 2064384, "the regions do not overlap");
_Static_assert(2064384 + 2 * RECORDING_BURST_SLOT_BYTES <= 2072576, "the regions do not overlap");
_Static_assert(2072576 + 2 * RECORDING_NAMES_SLOT_BYTES <= RECORDING_FILE_BYTES, "the regions fit");

/* The thread that starts the recording sets these variables. Two of them change later: `state`, when the recording
 * fails, and `cgroup`, which the recorder's thread updates. */
enum { IDLE, STARTING, RECORDING, FAILED, FORKED };
static int state = IDLE;
static char *mapping;
static char file_path[RECORDING_PATH_BYTES];
static char failure[sizeof((struct mallometer_recording_status *)0)->reason];
static uint64_t run_id;
static pid_t owner;
static bool (*wants_names)(void);
static struct memory_cgroup cgroup;

/* The sequence number of the latest record in each region of the file. One thread at a time writes to a region. */
static uint64_t sequences[REGIONS];
static bool claimed[REGIONS];

static bool has_thread;
static bool prepared;
static uint64_t thread_ns;
static size_t stack_bytes;

/* Compares the process id, too: a child of a raw fork system call does not run recording_forked(). */
static bool is_recording(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == RECORDING && getpid() == owner; }

/* ---- Records ------------------------------------------------------------------------------------------ */

/* Copies bytes into one page of the file. First tests with file_takes_stores(), at the offset `probed`, whether the
 * page accepts a store. If not, ends the recording and returns false. */
static bool store(char *to, size_t probed, const void *bytes, size_t length) {
  if (!file_takes_stores(to + probed)) {
    __atomic_store_n(&state, FAILED, __ATOMIC_RELEASE);
    return false;
  }
  memcpy(to, bytes, length);
  return true;
}

/*
 * Writes the first `head` bytes of a record and its content into the region's next slot.
 *
 * Tests each page before it stores there. A store would raise SIGBUS if the file was truncated or a copy-on-write file
 * system has no room. The head of the record, with the checksum, is written last: until then a reader skips the slot.
 */
static bool put(enum region region, struct recording_sample *record, size_t head, const char *content, size_t length) {
  const struct recording_region *ring = &layout[region];
  record->sequence = ++sequences[region];
  record->length = (uint32_t)(head + length);
  uint32_t checksum = recording_checksum(0, &record->length, head - sizeof record->checksum);
  record->checksum = recording_checksum(checksum, content, length);
  char *to = mapping + ring->offset + (record->sequence - 1) % ring->slots * ring->slot_bytes;
  for (size_t done = 0, part; done < length; done += part) {
    char *at = to + head + done;
    part = RECORDING_PAGE - (uintptr_t)at % RECORDING_PAGE;
    if (part > length - done) part = length - done;
    if (!store(at, 0, content + done, part)) return false;
  }
  return store(to, offsetof(struct recording_sample, realtime_ns), record, head);
}

static bool put_sample(enum region region, struct recording_sample *record) {
  return put(region, record, sizeof *record, NULL, 0);
}

static void take_counters(struct recording_sample *record) {
  struct mallometer_counters counted;
  snapshot_read(&counted);
  record->realtime_ns = realtime_ns();
  record->monotonic_ns = counted.monotonic_ns;
  record->flags = counted.flags & MALLOMETER_INCOMPLETE || counted.since_ns != 0 ? RECORDING_INCOMPLETE : 0;
  record->allocations = mallometer_allocations(&counted);
  record->frees = counted.frees;
  record->requested_bytes = counted.requested_bytes;
  record->allocated_bytes = counted.allocated_bytes;
  record->freed_bytes = counted.freed_bytes;
  record->failed = counted.failed < UINT32_MAX ? (uint32_t)counted.failed : UINT32_MAX;
  record->threads = counted.threads;
}

static void take_memory(struct recording_sample *record, const struct memory_reading *reading) {
  record->resident_bytes = reading->resident_bytes;
  record->charged_bytes = reading->charged_bytes;
  record->limit_bytes = reading->limit_bytes;
  record->file_bytes = reading->file_bytes;
  record->oom_kills = reading->oom_kills;
}

/* ---- The recorder's thread ---------------------------------------------------------------------------- */

/* The thread that asks the JVM for method names (java_thread.h) writes `names` only while `names_bytes` is 0. The
 * recorder's thread copies `names` to `known_names`, and then sets `names_bytes` to 0. */
static char names[RECORDING_NAMES_SLOT_BYTES - RECORDING_FRAME_BYTES];
static size_t names_bytes;
static char known_names[sizeof names + 1];
static char clause[400]; /* the part of the termination message about the present memory */

static void hand_names_over(void) {
  if (__atomic_load_n(&names_bytes, __ATOMIC_ACQUIRE) == 0) {
    __atomic_store_n(&names_bytes, burst_names(names, sizeof names), __ATOMIC_RELEASE);
  }
}

/* Takes the new method names that another thread has stored in `names`, and writes them to the recording. Sets
 * `are_new` to whether there were any. Returns false if the recording's file is gone. */
static bool take_names(bool *are_new) {
  size_t length = __atomic_load_n(&names_bytes, __ATOMIC_ACQUIRE);
  *are_new = length > 0;
  if (length == 0) return true;
  memcpy(known_names, names, length);
  known_names[length] = '\0';
  __atomic_store_n(&names_bytes, 0, __ATOMIC_RELEASE);
  java_thread_wake();
  struct recording_sample record = {.kind = RECORDING_RECORD_NAMES};
  record.realtime_ns = realtime_ns();
  record.monotonic_ns = monotonic_ns();
  return !is_recording() || put(NAMES, &record, RECORDING_FRAME_BYTES, known_names, length);
}

/* Writes to each page of the regions BURST and NAMES, so that the kernel charges the pages before memory is scarce.
 * The stores go to the end of the page, where no record begins. */
static void touch_pages_of_bursts(void) {
  for (size_t at = layout[BURST].offset; at < RECORDING_FILE_BYTES; at += RECORDING_PAGE) {
    if (!file_takes_stores(mapping + at + RECORDING_PAGE - 2 * sizeof(uint64_t))) return;
  }
}

/* Starts the thread that asks the JVM for names, unless memory is near the limit. Ends it when there is no JVM or the
 * library does not count. */
static void keep_java_thread(const struct memory_reading *reading) {
  if (!wants_names()) {
    java_thread_end();
  } else if (burst_leaves_room(reading)) {
    java_thread_start(jvm_attached(), hand_names_over);
  }
}

/* Returns the charged bytes without those of cached files, which the kernel drops when the limit is reached. */
static uint64_t used_bytes(const struct memory_reading *reading) {
  uint64_t charged = reading->charged_bytes, files = reading->file_bytes;
  if (charged == RECORDING_UNKNOWN || files == RECORDING_UNKNOWN) return charged;
  return charged > files ? charged - files : 0;
}

/* Reads the charged memory again, because the reading of the latest second is outdated while memory rises fast. */
static void read_in_rise(struct memory_reading *reading) {
  reading->charged_bytes = memory_charged(&cgroup);
  memory_read_rest(&cgroup, reading);
}

/* Returns whether a rise may end the process: more than a third of the limit is used, or there is no limit. */
static bool is_grave(const struct recording_burst *burst, const struct memory_reading *reading) {
  return burst->sites > 0 &&
         (reading->limit_bytes == RECORDING_UNKNOWN || used_bytes(reading) > reading->limit_bytes / 3);
}

static bool write_burst(const struct recording_burst *burst) {
  struct recording_sample record = {.kind = RECORDING_RECORD_BURST};
  record.realtime_ns = realtime_ns();
  record.monotonic_ns = monotonic_ns();
  return !is_recording() || put(BURST, &record, RECORDING_FRAME_BYTES, (const char *)burst, sizeof *burst);
}

/* ---- The termination message -------------------------------------------------------------------------- */

static void write_message(const struct recording_burst *rise, const struct memory_reading *reading) {
  uint64_t limit = reading->limit_bytes;
  uint64_t used = limit == RECORDING_UNKNOWN ? process_memory().anonymous : used_bytes(reading);
  const char *next = rise ? "; " : "";
  int length = 0;
  if (used != RECORDING_UNKNOWN && limit != RECORDING_UNKNOWN) {
    length = snprintf(clause, sizeof clause, "%" PRIu64 " %% of the limit of %" PRIu64 " MiB are used%s",
                      used / (limit / 100 + 1), limit >> 20, next);
  } else if (used != RECORDING_UNKNOWN) {
    length = snprintf(clause, sizeof clause, "%" PRIu64 " MiB are used%s", used >> 20, next);
  }
  if (rise && length >= 0) burst_line(rise, known_names, clause + length, sizeof clause - (size_t)length);
  message_write(clause);
}

/* Writes the termination message to its file while memory is scarce or rises fast, and empties the file afterwards. */
static void update_message(const struct memory_reading *reading, const struct recording_burst *rise, bool is_new) {
  static uint64_t written_ns;
  static bool is_pending;
  is_pending |= is_new;
  if (!message_is_on()) {
    written_ns = 0;
    return;
  }
  if (rise && !(burst_goes_on() && is_grave(rise, reading))) rise = NULL;
  uint64_t used = used_bytes(reading), limit = reading->limit_bytes, now = monotonic_ns();
  bool is_known = used != RECORDING_UNKNOWN && limit != RECORDING_UNKNOWN;
  if (!wants_names() || !(rise || (is_known && IS_SCARCE(used, limit, written_ns > 0)))) {
    message_clear();
    written_ns = 0;
  } else if (written_ns == 0 || now - written_ns >= (rise && is_pending ? RISING_MESSAGE_PAUSE : MESSAGE_PAUSE)) {
    written_ns = now;
    is_pending = false;
    write_message(rise, reading);
  }
}

/* ---- The work of each second -------------------------------------------------------------------------- */

/* Looks for fast rises until the next full second since `start`. Ends early if the file is gone. */
static void look_until_next_second(uint64_t start, struct memory_reading *reading) {
  static const struct recording_burst *latest;
  bool is_written = true, are_new;
  uint64_t now = monotonic_ns(), end = start + ((now - start) / SECOND + 1) * SECOND;
  while (now < end && is_written) {
    uint64_t pause = burst_pause_ns();
    wait_until(end - now < pause ? end : now + pause);
    now = monotonic_ns();
    const struct recording_burst *burst = burst_look(&cgroup, reading, now);
    if (burst) latest = burst;
    is_written = !burst || write_burst(burst);
    if (burst || (burst_goes_on() && reading->file_bytes == RECORDING_UNKNOWN)) read_in_rise(reading);
    if (burst && is_grave(burst, reading)) java_thread_wake();
    is_written = take_names(&are_new) && is_written;
    update_message(reading, latest, burst || are_new);
  }
}

static bool write_due(struct recording_sample *record, uint64_t due[]) {
  for (enum region ring = SECONDS; ring <= MINUTES; ring++) {
    /* A sample may be half a second early, because the times of the thread's wake-ups vary. */
    if (record->monotonic_ns + SECOND / 2 < due[ring]) continue;
    due[ring] = record->monotonic_ns + layout[ring].interval_ns;
    if (!put_sample(ring, record)) return false;
  }
  return true;
}

static void read_memory(struct memory_reading *reading, uint64_t tick) {
  if (tick % SECONDS_BETWEEN_SEARCHES == SECONDS_BETWEEN_SEARCHES - 1) {
    struct memory_cgroup found;
    memory_cgroup_find(&found);
    cgroup = found;
  }
  memory_read(&cgroup, reading);
  reading->file_bytes = RECORDING_UNKNOWN;
  bool near = reading->charged_bytes != RECORDING_UNKNOWN && reading->limit_bytes != RECORDING_UNKNOWN &&
              IS_NEAR_LIMIT(reading->charged_bytes, reading->limit_bytes);
  if (near || tick % 10 == 0) memory_read_rest(&cgroup, reading);
}

static bool write_second(const struct memory_reading *reading, uint64_t due[]) {
  static bool touched;
  if (!touched) touch_pages_of_bursts();
  touched = true;
  struct recording_sample record = {.kind = RECORDING_RECORD_SAMPLE};
  take_counters(&record);
  take_memory(&record, reading);
  return write_due(&record, due);
}

/* Returns whether the recorder's thread has something to do. If not, stores that this thread ends. */
static bool goes_on(void) {
  if (is_recording() || message_is_on()) return true;
  /* Must be called before `has_thread` is cleared. Afterwards another thread may start a new recorder, and this call
   * would end the new recorder's Java thread. */
  java_thread_end();
  (void)__atomic_exchange_n(&has_thread, false, __ATOMIC_SEQ_CST);
  /* start_thread() starts no thread while `has_thread` is set. If a recording or message began just before it was
   * cleared, this thread goes on, unless start_thread() has started another thread meanwhile. */
  return (is_recording() || message_is_on()) && !__atomic_exchange_n(&has_thread, true, __ATOMIC_SEQ_CST);
}

/* Makes the memory of the variables resident, in the first call only. memory_touch() rewrites bytes, and at a later
 * call the thread that asks the JVM for names may be writing to `names`. */
static void prepare(void) {
  if (prepared) return;
  prepared = true;
  burst_start();
  memory_touch(names, sizeof names);
  memory_touch(known_names, sizeof known_names);
  memory_touch(clause, sizeof clause);
}

static void *record_until_the_end(void *unused) {
  own_thread_begin("mallometer-rec");
  uint64_t due[MINUTES + 1] = {0};
  uint64_t start = monotonic_ns();
  prepare();
  struct memory_reading reading = {.limit_bytes = RECORDING_UNKNOWN};
  for (uint64_t tick = 0; goes_on(); tick++) {
    read_memory(&reading, tick);
    if (is_recording() && !write_second(&reading, due)) continue;
    sampler_measure();
    __atomic_store_n(&thread_ns, thread_cpu_ns(), __ATOMIC_RELAXED);
    keep_java_thread(&reading);
    burst_second(&reading);
    look_until_next_second(start, &reading);
  }
  own_thread_end();
  return unused;
}

static bool start_thread(void) {
  if (__atomic_exchange_n(&has_thread, true, __ATOMIC_SEQ_CST)) return true;
  memory_cgroup_find(&cgroup);
  stack_bytes = own_thread_start(record_until_the_end);
  if (!stack_bytes) __atomic_store_n(&has_thread, false, __ATOMIC_SEQ_CST);
  return stack_bytes > 0;
}

/* ---- Records that Java writes ------------------------------------------------------------------------- */

/* Returns the slot for a profile of call sites; -1 if there is none. Profiles of the peak (`percent` is 0) use the
 * slots 0 and 1 in turn. Slots 2 to 4 are for 85, 90 and 95 % of the memory limit. */
static int slot_of(uint32_t percent) {
  static unsigned peaks;
  return percent == 0 ? (int)(++peaks % 2) : percent == 85 ? 2 : percent == 90 ? 3 : percent == 95 ? 4 : -1;
}

/* Returns the length of the whole lines that fit into `room`. A cut line could end with an incomplete number. */
static uint32_t whole_lines(const char *text, uint32_t length, uint32_t room) {
  if (length <= room) return length;
  while (room > 0 && text[room - 1] != '\n') room--;
  return room;
}

static int write_claimed(enum region region, uint32_t percent, const char *content, uint32_t length) {
  const uint32_t room = layout[region].slot_bytes - RECORDING_FRAME_BYTES;
  struct recording_sample record = {.kind = region == SHUTDOWN ? RECORDING_RECORD_SHUTDOWN : RECORDING_RECORD_TEXT};
  if (region == PROFILES) {
    if (length > room) return -EMSGSIZE;
    const int slot = slot_of(percent);
    if (slot < 0) return -EINVAL;
    while (sequences[region] % layout[region].slots != (unsigned)slot) sequences[region]++;
    record.kind = RECORDING_RECORD_PROFILE;
    record.flags = percent;
  }
  length = whole_lines(content, length, room);
  record.realtime_ns = realtime_ns();
  record.monotonic_ns = monotonic_ns();
  return put(region, &record, RECORDING_FRAME_BYTES, content, length) ? (int)length : -EIO;
}

int recording_write(uint32_t kind, uint32_t percent, const char *content, uint32_t length) {
  enum region region = SHUTDOWN;
  while (region <= PROFILES && layout[region].kind != kind) region++;
  if (region > PROFILES || (percent && region != PROFILES) || (length && !content)) return -EINVAL;
  if (!is_recording()) return -ENODATA;
  if (__atomic_exchange_n(&claimed[region], true, __ATOMIC_ACQUIRE)) return -EBUSY;
  int result = write_claimed(region, percent, content, length);
  __atomic_store_n(&claimed[region], false, __ATOMIC_RELEASE);
  return result;
}

/* ---- The end of the process --------------------------------------------------------------------------- */

static void write_exit_record(int status) {
  if (!is_recording()) return;
  struct recording_sample record = {.kind = RECORDING_RECORD_EXIT};
  struct memory_reading reading;
  memory_read(&cgroup, &reading);
  memory_read_rest(&cgroup, &reading);
  take_counters(&record);
  record.flags = status == STATUS_NOT_TOLD ? RECORDING_STATUS_NOT_TOLD : (uint32_t)status;
  take_memory(&record, &reading);
  put_sample(EXIT, &record);
}

void recording_forked(void) {
  if (__atomic_load_n(&state, __ATOMIC_RELAXED) != IDLE) __atomic_store_n(&state, FORKED, __ATOMIC_RELAXED);
  stack_bytes = 0;
  has_thread = prepared = false;
  latest_samples_forked();
  message_forked();
}

/* ---- The start of the recording ----------------------------------------------------------------------- */

static void fill_header(struct recording_header *header, const struct recording_writer *origin) {
  struct memory_cgroup own;
  memory_cgroup_find(&own);
  memcpy(header->magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC);
  header->format = RECORDING_FORMAT;
  header->header_bytes = sizeof *header;
  header->file_bytes = RECORDING_FILE_BYTES;
  header->started_realtime_ns = realtime_ns();
  header->started_monotonic_ns = monotonic_ns();
  if (!random_bytes(&header->life, sizeof header->life)) {
    header->life = header->started_realtime_ns ^ (uint64_t)getpid() << 48;
  }
  header->pid = (uint32_t)getpid();
  header->process_start_ticks = process_start_ticks();
  header->byte_unit = origin->byte_unit;
  header->regions_used = REGIONS;
  machine_run_id(header->boot_id, sizeof header->boot_id);
  snprintf(header->build, sizeof header->build, "%s", origin->build);
  snprintf(header->allocator, sizeof header->allocator, "%s", origin->allocator);
  snprintf(header->executable, sizeof header->executable, "%s", executable_name());
  struct file_status directory;
  if (own.version) memcpy(header->cgroup, own.path, sizeof header->cgroup);
  if (own.version && file_status_at(own.path, &directory)) header->cgroup_inode = directory.number;
  memcpy(header->regions, layout, sizeof layout);
  header->checksum = recording_checksum(0, header, offsetof(struct recording_header, checksum));
}

static int fail(void) {
  log_line(LOG_WARN, "the recording is off: %s", failure);
  __atomic_store_n(&state, FAILED, __ATOMIC_RELEASE);
  return -EIO;
}

static bool make_absolute(const char *path) {
  size_t length = 0;
  if (path[0] != '/') {
    if (!getcwd(file_path, sizeof file_path - LONGEST_PATH - 2)) return false;
    length = strlen(file_path);
    file_path[length++] = '/';
  }
  memcpy(file_path + length, path, strlen(path) + 1);
  return true;
}

static bool may_start(void) {
  int expected = IDLE;
  if (__atomic_compare_exchange_n(&state, &expected, STARTING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return true;
  return expected == FAILED && !mapping &&
         __atomic_compare_exchange_n(&state, &expected, STARTING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

int recording_start(const char *path, const struct recording_writer *origin) {
  if (strnlen(path, LONGEST_PATH + 1) > LONGEST_PATH) return -EINVAL;
  if (!may_start()) return -EBUSY;
  if (!make_absolute(path)) {
    snprintf(failure, sizeof failure, "the working directory of %s is unknown", path);
    return fail();
  }
  struct recording_header header = {.life = 0};
  fill_header(&header, origin);
  mapping = recording_create(file_path, &header, failure, sizeof failure);
  if (!mapping) return fail();
  owner = getpid();
  wants_names = origin->wants_names;
  run_id = header.life;
  snprintf(failure, sizeof failure, "the file was truncated, or its file system failed");
  __atomic_store_n(&state, RECORDING, __ATOMIC_RELEASE);
  if (!start_thread()) {
    snprintf(failure, sizeof failure, "a thread cannot be started");
    return fail();
  }
  at_exit(write_exit_record);
  return 0;
}

int recording_start_message(const char *path, const struct recording_writer *origin) {
  wants_names = origin->wants_names;
  int result = message_start(path);
  if (result != 0 || start_thread()) return result;
  message_stop();
  return -EIO;
}

void recording_describe(struct mallometer_recording_status *out) {
  int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  if (now == IDLE || now == STARTING) return;
  out->state = now == RECORDING ? MALLOMETER_RECORDING_ON : MALLOMETER_RECORDING_FAILED;
  if (now == RECORDING) out->life = run_id;
  snprintf(out->path, sizeof out->path, "%s", file_path);
  snprintf(out->reason, sizeof out->reason, "%s",
           now == FORKED   ? "a forked child is not recorded"
           : now == FAILED ? failure
                           : "");
}

size_t recording_footprint(void) { return stack_bytes + java_thread_footprint(); }

uint64_t recording_overhead_ns(void) {
  return __atomic_load_n(&thread_ns, __ATOMIC_RELAXED) + java_thread_overhead_ns();
}
