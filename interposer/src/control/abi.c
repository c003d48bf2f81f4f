/* Implements the functions of mallometer.h. Each function checks its arguments, preserves errno, and gets its result
 * from other parts of the library. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "account/huge_requests.h"
#include "account/monitors.h"
#include "account/ranges.h"
#include "account/scopes.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/bootstrap.h"
#include "allocator/figures.h"
#include "control/attachment.h"
#include "control/owners.h"
#include "control/process.h"
#include "control/recording.h"
#include "control/snapshot.h"
#include "control/termination_message.h"
#include "hooks/mappings.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "jvm/attach.h"
#include "jvm/cleaners.h"
#include "jvm/compilations.h"
#include "jvm/java_heap.h"
#include "leak/evidence.h"
#include "leak/observation.h"
#include "leak/search.h"
#include "leak/search_targets.h"
#include "leak/slots.h"
#include "leak/watch.h"
#include "mallometer.h"
#include "platform/clock.h"
#include "platform/executable.h"
#include "platform/keep_errno.h"
#include "platform/loaded_objects.h"
#include "platform/memory.h"
#include "sample/call_sites.h"
#include "sample/live_samples.h"
#include "sample/sampler.h"

static uint64_t overhead_ns;

/* ---- Snapshots ---------------------------------------------------------------------------------------- */

uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION; }

int mallometer_snapshot(struct mallometer_counters *snapshot) {
  if (!snapshot) return -EINVAL;
  snapshot_read(snapshot);
  __atomic_fetch_add(&overhead_ns, monotonic_ns() - snapshot->monotonic_ns, __ATOMIC_RELAXED);
  return 0;
}

int mallometer_thread_snapshot(struct mallometer_counters *snapshot) {
  if (!snapshot) return -EINVAL;
  if (process_never_counts()) return -ENODATA;
  KEEP_ERRNO;
  struct thread_block *block = thread_block_acquire();
  if (!block) return -EAGAIN;
  struct mallometer_counters since_creation = {0}, found = {0};
  totals_copy(&block->events, &since_creation);
  totals_copy(thread_baseline(block), &found);
  mallometer_difference(&found, &since_creation, &since_creation);
  since_creation.monotonic_ns = monotonic_ns();
  since_creation.flags = hook_was_off() ? MALLOMETER_INCOMPLETE : 0;
  since_creation.threads = 1;
  *snapshot = since_creation;
  return 0;
}

/* ---- Scopes ------------------------------------------------------------------------------------------- */

static bool is_counting(void) { return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_COUNTING; }

static int open_scope(uint32_t options) {
  const bool matched = options & MALLOMETER_SCOPE_MATCHED;
  if (options & MALLOMETER_SCOPE_PROCESS) return scope_open(NULL, false);
  struct thread_block *block = event_block();
  int number = block ? scope_open(block, matched) : -EAGAIN;
  if (number > 0 && matched) hook_choose_route();
  return number;
}

int mallometer_scope_open(uint32_t options) {
  if (options > MALLOMETER_SCOPE_MATCHED) return -EINVAL;
  if (process_never_counts() || !is_counting()) return -ENODATA;
  KEEP_ERRNO;
  int number = open_scope(options);
  if (number > 0 && !is_counting()) { /* Counting was switched off meanwhile. */
    (void)mallometer_scope_close((uint32_t)number, NULL);
    number = -ENODATA;
  }
  return number;
}

int mallometer_scope_read(uint32_t number, struct mallometer_scope *figures) {
  return figures ? scope_read(number, figures) : -EINVAL;
}

int mallometer_scope_close(uint32_t number, struct mallometer_scope *figures) {
  struct mallometer_scope current;
  KEEP_ERRNO;
  const bool matched = scopes_include_matched();
  int result = scope_close(number, &current);
  if (matched) hook_choose_route();
  if (result == 0 && figures) *figures = current;
  return result;
}

/* ---- Monitors ----------------------------------------------------------------------------------------- */

/* Returns whether the library can count. hook_ready() starts the hook if nothing was allocated yet, for example in a
 * constructor of the program. */
static bool may_count(void) {
  return !process_never_counts() && hook_ready() && malloc_leads_here && !process_never_counts();
}

int mallometer_monitor_register(const struct mallometer_monitor *monitor) {
  if (!monitor || (!monitor->allocated && !monitor->freed)) return -EINVAL;
  if (!may_count()) return -ENODATA;
  KEEP_ERRNO;
  int number = monitor_add(monitor);
  if (number > 0) {
    hook_choose_route();
    hook_wait_for_route();
  }
  return number;
}

int mallometer_monitor_unregister(uint32_t number) {
  KEEP_ERRNO;
  int result = monitor_remove(number);
  if (result != -EINVAL) hook_choose_route();
  return result;
}

void mallometer_count_actual(void *context, void *object, size_t requested, size_t actual) {
  monitors_count_actual(context, object, requested, actual);
}

/* ---- Thresholds ---------------------------------------------------------------------------------------- */

int mallometer_threshold_open(uint64_t bytes, uint32_t thread) {
  if (bytes == 0 || bytes > PTRDIFF_MAX) return -EINVAL;
  if (!may_count()) return -ENODATA;
  KEEP_ERRNO;
  int number = request_watch_add(bytes, thread);
  if (number > 0) {
    hook_choose_route();
    hook_wait_for_route();
  }
  return number;
}

int mallometer_threshold_read(uint32_t number, struct mallometer_event *events, uint32_t capacity, uint64_t *total) {
  uint64_t requests = 0;
  if (!events) return -EINVAL;
  int copied = request_watch_read(number, events, capacity, &requests);
  if (copied >= 0 && total) *total = requests;
  return copied;
}

int mallometer_threshold_close(uint32_t number) {
  KEEP_ERRNO;
  int result = request_watch_remove(number);
  if (result == 0) hook_choose_route();
  return result;
}

/* ---- Attaching ---------------------------------------------------------------------------------------- */

int mallometer_attach(void) {
  KEEP_ERRNO;
  return attachment_begin();
}

int mallometer_attach_check(void) {
  KEEP_ERRNO;
  return attachment_check();
}

int mallometer_detach(void) {
  KEEP_ERRNO;
  int result = attachment_end();
  message_clear();
  return result;
}

/* ---- Switches, call sites, observation ---------------------------------------------------------------- */

int mallometer_disable(void) { return process_disable(); }

int mallometer_enable(void) { return process_enable(); }

int mallometer_events(struct mallometer_event *events, uint32_t capacity, uint64_t after) {
  if (!events) return -EINVAL;
  return (int)huge_request_events(events, capacity, after);
}

int mallometer_sites(struct mallometer_site *sites, uint32_t capacity, uint32_t first) {
  if (!sites) return -EINVAL;
  if (!process_has_call_sites()) return -ENODATA;
  return (int)call_sites_copy(sites, capacity, first);
}

int mallometer_site_stack(uint32_t number, uint64_t *frames, uint32_t capacity) {
  if (!process_has_call_sites()) return -ENODATA;
  int count = frames ? call_site_stack(number, frames, capacity) : -1;
  return count < 0 ? -EINVAL : (int)jvm_correct_frames(frames, (uint32_t)count, capacity);
}

int mallometer_modules(struct mallometer_module *modules, uint32_t capacity, uint32_t first) {
  if (!modules) return -EINVAL;
  const struct modules *known = process_has_call_sites() ? call_sites_modules() : NULL;
  return known ? (int)modules_copy(known, modules, capacity, first) : -ENODATA;
}

/* Inserts a range in the order of addresses, unless it overlaps another one. Drops the last range if there is no
 * room. Returns the number of ranges. */
static uint32_t insert_row(struct mallometer_range *rows, uint32_t capacity, uint32_t count,
                           struct mallometer_range row) {
  uint32_t place = count;
  while (place > 0 && rows[place - 1].address >= row.address) place--;
  if (place == capacity || (place < count && rows[place].address < row.address + row.length)) return count;
  if (place > 0 && rows[place - 1].address + rows[place - 1].length > row.address) return count;
  if (count == capacity) count--;
  memmove(rows + place + 1, rows + place, (count - place) * sizeof *rows);
  rows[place] = row;
  return count + 1;
}

/*
 * Adds the library's own ranges that end above `from` to the copied ranges of the program. Leaves out own ranges behind
 * the last copied range, because uncopied ranges of the program may come before them. Returns the number of ranges.
 */
static int add_own_ranges(struct mallometer_range *rows, uint32_t capacity, int copied, uint64_t from) {
  if (copied < 0) return copied;
  uint32_t count = (uint32_t)copied;
  uint64_t behind = count > 0 ? rows[count - 1].address : UINT64_MAX;
  for (unsigned i = 0; i < MOST_OWN_RANGES; i++) {
    uintptr_t begin, end;
    if (!memory_own_range(i, &begin, &end) || end <= from || begin >= behind) continue;
    count = insert_row(rows, capacity, count,
                       (struct mallometer_range){begin, end - begin, 0, UINT32_MAX, MALLOMETER_RANGE_OF_LIBRARY});
  }
  return (int)count;
}

int mallometer_ranges(struct mallometer_range *rows, uint32_t capacity, uint64_t from) {
  if (!rows) return -EINVAL;
  if (!process_has_call_sites() || !ranges_on()) return -ENODATA;
  return add_own_ranges(rows, capacity, ranges_copy(rows, capacity, from), from);
}

int mallometer_objects(struct mallometer_object *objects, uint32_t capacity) {
  if (!objects) return -EINVAL;
  if (!process_has_call_sites()) return -ENODATA;
  return (int)live_samples_copy(objects, capacity, slots_copy(objects, capacity, NULL),
                                NULL); /* slots_copy() comes first, because its rows have the most details */
}

/* Returns why sampled objects cannot be moved to pages of their own, on which the library sees accesses; NULL if
 * they can. */
static const char *unable_to_observe(void) {
  if (sampler_interval() == 1)
    return "MALLOMETER_SAMPLE_INTERVAL=1 samples every allocation, too many to observe; raise it";
  if (size_source == SIZE_FROM_HEADER) return "MALLOMETER_ACCOUNTING=header excludes leak evidence; set it to usable";
  if (size_source != SIZE_FROM_CHUNK)
    return "the allocator is not glibc's, or the layout of its objects on this processor is not known";
  return NULL;
}

int mallometer_leaks_start(void) {
  if (!process_has_call_sites()) return -ENODATA;
  KEEP_ERRNO;
  return observation_start(unable_to_observe());
}

int mallometer_leaks_stop(void) { return observation_stop(); }

int mallometer_leaks(struct mallometer_observation *out) {
  if (!out) return -EINVAL;
  *out = (struct mallometer_observation){0};
  observation_describe(out);
  return 0;
}

int mallometer_evidence(struct mallometer_site_evidence *evidence, uint32_t capacity, uint32_t first) {
  if (!evidence) return -EINVAL;
  if (!observation_has_evidence()) return -ENODATA;
  return (int)evidence_copy(evidence, capacity, first);
}

int mallometer_watch(const uint32_t *sites, uint32_t count) {
  if ((!sites && count > 0) || count > MOST_WATCHED_SITES) return -EINVAL;
  KEEP_ERRNO;
  return observation_watch(sites, count);
}

int mallometer_accesses(struct mallometer_access *accesses, uint32_t capacity) {
  if (!accesses) return -EINVAL;
  if (!observation_has_evidence()) return -ENODATA;
  return (int)watch_accesses(accesses, capacity);
}

int mallometer_search_start(const uint32_t *sites, uint32_t count, uint64_t most_bytes) {
  if (!sites || count == 0 || count > MOST_SEARCHED_SITES) return -EINVAL;
  if (!process_has_call_sites()) return -ENODATA;
  KEEP_ERRNO;
  return search_start(sites, count, most_bytes, java_heap_parts());
}

int mallometer_search(struct mallometer_searched *out, struct mallometer_sought *rows, uint32_t capacity) {
  if (!out || (!rows && capacity > 0)) return -EINVAL;
  *out = (struct mallometer_searched){0};
  return (int)search_describe(out, rows, capacity);
}

/* ---- Java objects that own native memory -------------------------------------------------------------- */

static int describe_owners(int result, struct mallometer_owners *out) {
  *out = (struct mallometer_owners){0};
  if (result != -EBUSY) owners_describe(out);
  return result;
}

int mallometer_owners_begin(uint32_t site, struct mallometer_owners *out) {
  if (!out) return -EINVAL;
  if (!process_has_call_sites()) return -ENODATA;
  KEEP_ERRNO;
  return describe_owners(owners_begin(site), out);
}

int mallometer_owners_step(uint32_t step, struct mallometer_owners *out) {
  if (!out) return -EINVAL;
  KEEP_ERRNO;
  return describe_owners(owners_step(step), out);
}

int mallometer_owners_rows(uint32_t kind, void *rows, uint32_t capacity) {
  return rows ? owners_rows(kind, rows, capacity) : -EINVAL;
}

int mallometer_owners_name(uint32_t number, char *name, uint32_t bytes) {
  return name && bytes > 0 ? owners_name(number, name, bytes) : -EINVAL;
}

int mallometer_owners_end(void) {
  KEEP_ERRNO;
  return owners_end();
}

static bool retains(const void *scope, const void *object) { return scope_retains(scope, object); }

int mallometer_scope_objects(uint32_t number, struct mallometer_object *objects, uint32_t capacity) {
  if (!objects) return -EINVAL;
  int error;
  const struct scope *scope = scope_find_own(number, own_block(), &error);
  if (!scope) return error;
  if (!process_has_call_sites()) return -ENODATA;
  const struct object_filter filter = {retains, scope};
  return (int)live_samples_copy(objects, capacity, slots_copy(objects, capacity, &filter), &filter);
}

int mallometer_jvm_attach(void) {
  if (!process_has_call_sites()) return -ENODATA;
  if (!process_wants_java_frames()) return -EPERM;
  KEEP_ERRNO;
  return jvm_attach();
}

int mallometer_collections(struct mallometer_collection_counts *out, struct mallometer_cleaned *rows,
                           uint32_t capacity) {
  if (!out || (!rows && capacity > 0)) return -EINVAL;
  *out = (struct mallometer_collection_counts){0};
  if (!process_has_call_sites()) return -ENODATA;
  KEEP_ERRNO;
  int result = cleaners_look(out, capacity > 0);
  return result == 0 ? (int)call_sites_copy_cleaned(rows, capacity, out->old) : result;
}

int mallometer_method_name(uint32_t number, struct mallometer_method *method) {
  if (!method) return -EINVAL;
  KEEP_ERRNO;
  *method = (struct mallometer_method){0};
  int result = jvm_describe_method(number, method);
  return result;
}

static void change_interval(size_t bytes) {
  KEEP_ERRNO;
  if (bytes > 0) process_record_call_sites();
  sampler_set_interval(bytes);
}

static int switch_compilations(bool on) {
  KEEP_ERRNO;
  return compilations_switch(on);
}

int mallometer_configure(uint32_t option, uint64_t value) {
  switch (option) {
    case MALLOMETER_OPTION_OVERHEAD_TARGET:
      if (value > 1000000) return -EINVAL;
      sampler_set_target((uint32_t)value);
      return 0;
    case MALLOMETER_OPTION_SAMPLE_INTERVAL:
      if (value == 1 || value > PTRDIFF_MAX || sampler_interval() == 1) return -EINVAL;
      change_interval(value);
      return 0;
    case MALLOMETER_OPTION_EPOCH_OVER_COST:
      return observation_spend(value) ? 0 : -EINVAL;
    case MALLOMETER_OPTION_SHORTEST_EPOCH:
      return observation_shorten(value) ? 0 : -EINVAL;
    case MALLOMETER_OPTION_COMPILED_METHODS:
      return value <= 1 ? switch_compilations(value == 1) : -EINVAL;
    default:
      return -EINVAL;
  }
}

/*
 * Adds the bytes of unmapped slots to glibc's figures. A slot is the pages of one sampled object. glibc subtracts a
 * slot's bytes when it unmaps the slot, but has never added them. `retired_bytes` may lack slots whose unmapping this
 * library has not noticed. If `mapped_bytes` would still be negative, it is set to 0.
 */
static void add_slot_bytes(struct mallometer_allocator_state *figures) {
  uint64_t retired = slots_totals().retired_bytes, mapped = figures->mapped_bytes + retired;
  if (figures->kind != MALLOMETER_ALLOCATOR_GLIBC) return;
  if ((int64_t)mapped < 0) retired -= mapped;
  figures->mapped_bytes += retired;
  figures->system_bytes += retired;
  figures->used_bytes += retired;
}

int mallometer_allocator(struct mallometer_allocator_state *out, struct mallometer_arena *rows, uint32_t capacity) {
  if (!out || (!rows && capacity > 0)) return -EINVAL;
  if (process_state() == MALLOMETER_STATE_NOT_PRELOADED) return -ENODATA;
  struct mallometer_allocator_state current = {0};
  KEEP_ERRNO;
  int result = allocator_figures(&current, rows, capacity);
  if (result != 0) return result;
  add_slot_bytes(&current);
  *out = current;
  return 0;
}

int mallometer_trim(void) {
  if (process_state() == MALLOMETER_STATE_NOT_PRELOADED) return -ENODATA;
  KEEP_ERRNO;
  return allocator_trim();
}

int mallometer_record(const char *path) {
  if (!path || !*path) return -EINVAL;
  if (process_never_counts()) return -ENODATA;
  KEEP_ERRNO;
  return process_record(path);
}

int mallometer_recording_write(uint32_t kind, uint32_t percent, const char *content, uint32_t length) {
  KEEP_ERRNO;
  return recording_write(kind, percent, content, length);
}

int mallometer_recording(struct mallometer_recording_status *out) {
  if (!out) return -EINVAL;
  *out = (struct mallometer_recording_status){0};
  recording_describe(out);
  return 0;
}

int mallometer_message_start(const char *path) {
  if (process_never_counts()) return -ENODATA;
  KEEP_ERRNO;
  return process_write_message(path);
}

int mallometer_message_stop(void) {
  KEEP_ERRNO;
  message_stop();
  return 0;
}

int mallometer_message_sentence(const char *sentence, uint32_t length) {
  if (!sentence && length > 0) return -EINVAL;
  message_set_sentence(sentence, length);
  return 0;
}

int mallometer_message(struct mallometer_message_status *out) {
  if (!out) return -EINVAL;
  *out = (struct mallometer_message_status){0};
  message_describe(out);
  return 0;
}

static uint32_t slots_in_use(void) {
  struct slots_totals slots = slots_totals();
  uint32_t sum = 0;
  for (uint32_t class = 0; class < MALLOMETER_SLOT_CLASSES; class ++) sum += slots.in_use[class];
  return sum;
}

int mallometer_self(struct mallometer_report *self) {
  if (!self) return -EINVAL;
  struct mallometer_report current = {0};
  call_sites_make_room();
  current.state = (uint32_t)process_state();
  current.byte_unit = process_byte_unit();
  current.footprint_bytes = own_image_bytes() + thread_blocks_footprint() + scopes_footprint() + bootstrap_footprint() +
                            recording_footprint() + call_sites_footprint() + observation_footprint() +
                            search_footprint() + owners_footprint() + jvm_footprint() + loaded_objects_footprint() +
                            ranges_footprint();
  current.overhead_ns = __atomic_load_n(&overhead_ns, __ATOMIC_RELAXED) + recording_overhead_ns() +
                        observation_overhead_ns() + search_overhead_ns();
  current.threads_without_block = threads_without_block();
  current.huge_threshold_bytes = huge_threshold;
  struct sampler_totals sampled = sampler_totals();
  current.overhead_ns += sampled.time_ns;
  current.sample_interval_bytes = sampler_interval();
  current.samples = sampled.samples;
  current.sampled_bytes = sampled.estimated_bytes;
  current.samples_without_path = sampled.without_path;
  struct call_sites_totals sites = call_sites_totals();
  current.samples_without_site = sites.without_site;
  current.samples_not_followed = sites.without_place;
  current.live_samples = live_samples_count() + slots_in_use();
  current.call_sites = sites.sites;
  current.samples_truncated = sites.truncated;
  current.samples_without_java = sites.without_java;
  current.overhead_target_ppm = sampler_target();
  current.sampling_share_ppm = sampled.share_ppm;
  current.methods = jvm_method_count();
  current.modules = call_sites_modules() ? modules_count(call_sites_modules()) : 0;
  current.java = jvm_state();
  current.tables_bytes = call_sites_footprint();
  current.slots_reserved_bytes = slots_reserved();
  if (current.slots_reserved_bytes > 0) current.slots_address = (uintptr_t)slots_pages_before();
  current.slots_taken_bytes = slots_totals().taken_bytes;
  current.slots_excess_bytes = slots_excess();
  current.frames_without_method = jvm_frames_without_method();
  current.frames_without_module = call_sites_modules() ? modules_without_room(call_sites_modules()) : 0;
  current.samples_without_stack = sites.without_stack;
  struct ranges_totals ranges = ranges_totals();
  current.ranges = ranges.ranges;
  current.ranges_forgotten = ranges.forgotten;
  current.ranges_missed = ranges.missed;
  current.ranges_without_site = mappings_not_walked();
  strncpy(current.build, MALLOMETER_BUILD, sizeof current.build - 1);
  strncpy(current.allocator, process_allocator(), sizeof current.allocator - 1);
  process_reason(current.reason, sizeof current.reason);
  attachment_describe(&current);
  *self = current;
  return 0;
}
