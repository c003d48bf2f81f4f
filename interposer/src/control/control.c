/*
 * The functions of mallometer.h, and the process's start and forks. The only file that knows all others.
 *
 * The constructor runs after the C library is usable and before main; events that come earlier (the loader's,
 * those of other constructors) are counted already, as the hook starts itself at its first event.
 */
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "account/large_requests.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/bootstrap.h"
#include "allocator/figures.h"
#include "allocator/next.h"
#include "control/black_box.h"
#include "control/configuration.h"
#include "control/log.h"
#include "control/refusal.h"
#include "hooks/operators.h"
#include "hooks/state.h"
#include "jvm/attach.h"
#include "leak/evidence.h"
#include "leak/observation.h"
#include "leak/trial.h"
#include "leak/watch.h"
#include "mallometer.h"
#include "platform/clock.h"
#include "platform/dynamic_symbols.h"
#include "platform/glibc_versions.h"
#include "platform/rows.h"
#include "sample/call_sites.h"
#include "sample/native_stack.h"
#include "sample/sampler.h"
#include "sample/slots.h"

#ifndef MALLOMETER_BUILD
#error "the build defines MALLOMETER_BUILD, a string such as \"0.1.0\""
#endif

static int state = MALLOMETER_STATE_COUNTING;
static bool was_off;
static char allocator_name[sizeof((struct mallometer_report *)0)->allocator];
/* Points to a constant, or to reason_text, which is written before the process has a second thread. */
static const char *reason = "";
static char reason_text[sizeof((struct mallometer_report *)0)->reason];
static uint64_t overhead_ns;
static size_t image_bytes;
static enum unwinding unwinding;
static const char *wanted_black_box;
static bool java_frames;
static bool call_sites_wanted;
/* Why call sites are not recorded although they are asked for. */
static const char *sites_missing;

/* ---- Start and fork ----------------------------------------------------------------------------------- */

static const char *path_of_executable(char *path, size_t capacity) {
  ssize_t length = readlink("/proc/self/exe", path, capacity - 1);
  if (length <= 0) return (const char *)getauxval(AT_EXECFN);
  path[length] = '\0';
  return path;
}

static void off(int why, const char *text) {
  state = why;
  reason = text;
  was_off = true;
  hook_count(false);
}

/* Whether this process counts nothing, whatever is asked of the library later. */
static bool never_counts(void) {
  return state == MALLOMETER_STATE_NOT_PRELOADED || state == MALLOMETER_STATE_EXCLUDED ||
         state == MALLOMETER_STATE_UNSUPPORTED;
}

static bool resetting; /* a thread is in mallometer_reset() */

static void in_forked_child(void) {
  __atomic_store_n(&resetting, false, __ATOMIC_RELAXED); /* not here any more */
  thread_blocks_forked();
  totals_forked();
  black_box_forked();
  jvm_forked();
  observation_forked();
}

static void refuse_or_use_headers(void) {
  char name[64];
  if (!find_object_past_interposers(name, sizeof name)) {
    hook_use_headers();
    return;
  }
  snprintf(reason_text, sizeof reason_text,
           "MALLOMETER_ACCOUNTING=header refused, usable sizes instead: %s calls __libc_free", name);
  reason = reason_text;
  log_line(LOG_WARN, "%s", reason);
}

void hook_refuses_deepbind(const char *file) {
  log_line(LOG_WARN,
           "MALLOMETER_ACCOUNTING=header: %s is opened without RTLD_DEEPBIND, which would free past the headers",
           file ? file : "the executable");
}

/* Frees look for samples before there are any, so that every free of a sampled object finds it. */
static void record_call_sites(void) {
  static bool said;
  if (!call_sites_wanted || call_sites_on() || never_counts()) return;
  const char *missing = call_sites_start();
  __atomic_store_n(&sites_missing, missing, __ATOMIC_RELEASE);
  if (!missing) {
    hook_choose_route();
    call_sites_open();
  } else if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) {
    log_line(LOG_WARN, "call sites are not recorded: %s", missing);
  }
}

/*
 * Whether call sites are recorded, now that somebody asks for them. Most programs that inherit the preload never do,
 * and the tables are not reserved in those: they count against limits that are meant for the program.
 */
static bool call_sites_are_recorded(void) {
  int saved_errno = errno;
  if (sampler_interval() > 0) record_call_sites();
  errno = saved_errno;
  return call_sites_on();
}

static bool is_of_call_sites(const char *function) {
  static const char *const functions[] = {"mallometer_sites",   "mallometer_site_stack",  "mallometer_objects",
                                          "mallometer_modules", "mallometer_leaks_start", "mallometer_jvm_attach",
                                          "JNI_CreateJavaVM"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strcmp(function, functions[i]) == 0) return true;
  }
  return false;
}

/* Whether the program is known to ask for call sites later, which are then recorded from its start. */
static bool will_ask_for_call_sites(const struct configuration *configuration) {
  return configuration->call_sites_asked_for || refers_to(first_object(), is_of_call_sites);
}

void hook_meets_jvm(void) { call_sites_are_recorded(); }

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void hook_warns_of_internals(const char *file) {
  if (!file_names_internals(file)) return;
  log_line(LOG_WARN,
           "MALLOMETER_ACCOUNTING=header: %s calls __libc_free; what it frees so ends the program, use usable sizes",
           base_name(file));
}

/* Called with the first event of the process, when the C library has its environment but hardly anything has run. */
void hook_starts(void) {
  if (!libc_is_glibc()) {
    off(MALLOMETER_STATE_UNSUPPORTED, "the C library is not glibc (Alpine's is musl): nothing is counted");
    return;
  }
  char path[4096];
  clock_start();
  struct configuration configuration = configuration_read(environ, path_of_executable(path, sizeof path));
  huge_threshold = configuration.huge_threshold;
  sampler_configure(configuration.sample_interval);
  sampler_aim(configuration.overhead_target_ppm);
  java_frames = configuration.java_frames;
  call_sites_wanted = configuration.call_sites;
  unwinding = configuration.unwinding;
  observation_configure(configuration.leaks, configuration.arena_bytes);
  trial_remembers(environ);
  if (configuration.excluded) {
    off(MALLOMETER_STATE_EXCLUDED, "MALLOMETER_ONLY does not name this executable");
    return;
  }
  if (configuration.headers) refuse_or_use_headers();
  if (configuration.call_sites && configuration.sample_interval > 0 && will_ask_for_call_sites(&configuration))
    record_call_sites();
  wanted_black_box = getauxval(AT_SECURE) ? NULL : configuration.black_box;
  if (!configuration.enabled) off(MALLOMETER_STATE_DISABLED, "MALLOMETER_ENABLED=false");
}

/* `first` is the malloc that the program calls. It may not be ready: nothing here calls it, or might. */
static void explain_not_preloaded(const void *first) {
  Dl_info serving = {0};
  if (malloc_is_replaced) {
    snprintf(reason_text, sizeof reason_text,
             "a memory checker answers malloc; for Valgrind's add --soname-synonyms=somalloc=nouserintercepts");
  } else if (object_of(first) == object_of((const void *)(uintptr_t)gnu_get_libc_version)) {
    snprintf(reason_text, sizeof reason_text, "loaded after the process had started; name the library in LD_PRELOAD");
  } else if (dladdr(first, &serving) && serving.dli_fname) {
    bool of_program = object_of(first) == first_object();
    snprintf(reason_text, sizeof reason_text, "malloc of %s comes first%s", base_name(serving.dli_fname),
             of_program ? ": a malloc that is part of the program cannot be counted"
                        : "; name mallometer before it in LD_PRELOAD");
  }
  reason = reason_text;
}

/* Adds up the segments of this library, its tables and buffers included. */
static int measure_image(struct dl_phdr_info *object, size_t size, void *bytes) {
  (void)size;
  size_t sum = 0, page = (size_t)getpagesize();
  bool ours = false;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
    uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr, end = begin + object->dlpi_phdr[i].p_memsz;
    ours |= (uintptr_t)&image_bytes >= begin && (uintptr_t)&image_bytes < end;
    sum += (end + page - 1) / page * page - begin / page * page;
  }
  if (ours) *(size_t *)bytes = sum;
  return ours;
}

static void begin(void) {
  bool ours = program_malloc_is_ours();
  if (!ours) operators_find(); /* the rest when something is called: the loader might call malloc for it */
  if (!ours || !hook_ready() || !malloc_leads_here) state = MALLOMETER_STATE_NOT_PRELOADED;
  const void *serving = ours ? (const void *)(uintptr_t)next.malloc : first_definition("malloc", first_object(), NULL);
  if (is_of_sanitizer(serving)) {
    reason = "malloc is a sanitizer's, which takes no other before it: nothing is counted";
    return;
  }
  dl_iterate_phdr(measure_image, &image_bytes);
  if (state == MALLOMETER_STATE_NOT_PRELOADED) {
    explain_not_preloaded(serving);
    return;
  }
  next_allocator_name(allocator_name, sizeof allocator_name);
  allocator_find();
  allocator_name_version(allocator_name, sizeof allocator_name);
  forget_loader_errors();
  if (never_counts()) return;
  unwinding = native_stack_start(unwinding);
  forget_loader_errors();
  if (__register_atfork) __register_atfork(NULL, NULL, in_forked_child, NULL);
  if (wanted_black_box) black_box_start(wanted_black_box);
  log_line(LOG_INFO, "%s over %s, %s", MALLOMETER_BUILD, allocator_name, *reason ? reason : "counting");
}

/* Before main, where errno is 0. */
__attribute__((constructor)) static void start(void) {
  int saved_errno = errno;
  begin();
  errno = saved_errno;
}

/* ---- Snapshots ---------------------------------------------------------------------------------------- */

/* Hands over as much of a struct as the caller knows, its size and version first. -EINVAL if it knows too little. */
static int deliver(void *to, void *from, size_t full_size) {
  uint32_t known = 0;
  if (to) memcpy(&known, to, sizeof known);
  if (known < 2 * sizeof(uint32_t)) return -EINVAL;
  uint32_t size = known < full_size ? known : (uint32_t)full_size;
  const uint32_t head[2] = {size, MALLOMETER_ABI_VERSION};
  memcpy(from, head, sizeof head);
  memcpy(to, from, size);
  return 0;
}

/*
 * Two places for the origin of MALLOMETER_SINCE_RESET; `current_origin` counts resets and its lowest bit names the
 * valid one. A reader that is overtaken by two resets during its copy notices and reads again.
 */
static struct mallometer_counters origins[2];
static uint32_t current_origin;

static void subtract_origin(struct mallometer_counters *snapshot) {
  struct mallometer_counters origin;
  uint32_t number;
  do {
    number = __atomic_load_n(&current_origin, __ATOMIC_ACQUIRE);
    origin = origins[number & 1];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } while (__atomic_load_n(&current_origin, __ATOMIC_RELAXED) != number);
  mallometer_difference(&origin, snapshot, snapshot);
}

static void sum_up(struct mallometer_counters *snapshot) {
  *snapshot = (struct mallometer_counters){.monotonic_ns = monotonic_ns()};
  if (was_off) {
    totals_read(snapshot);
    snapshot->peak_live_bytes = peak_so_far();
  } else {
    snapshot->peak_live_bytes = totals_raise_peak(snapshot);
  }
}

/*
 * Live bytes are too high by what was freed while the sum was taken: next to nothing, unless this thread was
 * interrupted in the middle. A sum that took many times as long as its reading takes is taken again.
 */
static void read_process(struct mallometer_counters *snapshot) {
  for (unsigned attempts = 3; attempts > 0; attempts--) {
    sum_up(snapshot);
    if (monotonic_ns() - snapshot->monotonic_ns < 50000 + 200 * (uint64_t)thread_block_count()) break;
  }
  snapshot->flags = was_off ? MALLOMETER_INCOMPLETE : 0;
  snapshot->threads = thread_block_owners();
  snapshot->peak_error_bytes = peak_error();
  snapshot->largest_request_bytes = largest_request();
  snapshot->huge_allocations = huge_requests();
}

uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION; }

int mallometer_snapshot(struct mallometer_counters *snapshot, uint32_t origin) {
  if (!snapshot || origin > MALLOMETER_SINCE_RESET) return -EINVAL;
  struct mallometer_counters current = {0};
  read_process(&current);
  __atomic_fetch_add(&overhead_ns, monotonic_ns() - current.monotonic_ns, __ATOMIC_RELAXED);
  if (origin == MALLOMETER_SINCE_RESET) subtract_origin(&current);
  return deliver(snapshot, &current, sizeof current);
}

int mallometer_thread_snapshot(struct mallometer_counters *snapshot) {
  if (never_counts()) return -ENODATA;
  int saved_errno = errno;
  struct thread_block *block = thread_block_acquire();
  errno = saved_errno;
  if (!block) return -EAGAIN;
  struct mallometer_counters since_creation = {0}, found = {0};
  totals_of(&block->events, &since_creation);
  totals_of(thread_baseline(block), &found);
  mallometer_difference(&found, &since_creation, &since_creation);
  since_creation.monotonic_ns = monotonic_ns();
  since_creation.flags = was_off ? MALLOMETER_INCOMPLETE : 0;
  since_creation.threads = 1;
  return deliver(snapshot, &since_creation, sizeof since_creation);
}

int mallometer_reset(void) {
  if (__atomic_exchange_n(&resetting, true, __ATOMIC_ACQUIRE)) return -EBUSY;
  uint32_t next_number = __atomic_load_n(&current_origin, __ATOMIC_RELAXED) + 1;
  struct mallometer_counters now = {0};
  read_process(&now);
  origins[next_number & 1] = now;
  __atomic_store_n(&current_origin, next_number, __ATOMIC_RELEASE);
  __atomic_store_n(&resetting, false, __ATOMIC_RELEASE);
  return 0;
}

/* ---- On, off and self --------------------------------------------------------------------------------- */

int mallometer_disable(void) {
  if (state != MALLOMETER_STATE_COUNTING && state != MALLOMETER_STATE_DISABLED) return -ENODATA;
  off(MALLOMETER_STATE_DISABLED, "mallometer_disable() was called");
  return 0;
}

int mallometer_enable(void) {
  if (state != MALLOMETER_STATE_COUNTING && state != MALLOMETER_STATE_DISABLED) return -ENODATA;
  state = MALLOMETER_STATE_COUNTING;
  reason = was_off ? "counting was off for a time; live and peak bytes are unknown" : "";
  hook_count(true);
  return 0;
}

static uint32_t byte_unit(void) {
  switch (size_source) {
    case SIZE_FROM_CHUNK:
      return MALLOMETER_UNIT_GLIBC_CHUNK;
    case SIZE_FROM_HEADER:
      return MALLOMETER_UNIT_REQUESTED;
    default:
      return MALLOMETER_UNIT_USABLE;
  }
}

/* The sizes of rows when MALLOMETER_ABI_VERSION 1 began: no caller has shorter ones. They never change. */
enum {
  FIRST_EVENT_BYTES = 176,
  FIRST_ARENA_BYTES = 40,
  FIRST_SITE_BYTES = 88,
  FIRST_MODULE_BYTES = 1088,
  FIRST_OBJECT_BYTES = 48,
  FIRST_EVIDENCE_BYTES = 624,
  FIRST_ACCESS_BYTES = 560
};

int mallometer_events(struct mallometer_event *events, uint32_t event_size, uint32_t capacity, uint64_t after) {
  if (!events || event_size < FIRST_EVENT_BYTES) return -EINVAL;
  return (int)large_request_events(&(struct rows){events, event_size, capacity}, after);
}

int mallometer_sites(struct mallometer_site *sites, uint32_t site_size, uint32_t capacity, uint32_t first) {
  if (!sites || site_size < FIRST_SITE_BYTES) return -EINVAL;
  if (!call_sites_are_recorded()) return -ENODATA;
  return (int)call_sites_copy(&(struct rows){sites, site_size, capacity}, first);
}

int mallometer_site_stack(uint32_t number, uint64_t *frames, uint32_t capacity) {
  if (!call_sites_are_recorded()) return -ENODATA;
  int count = frames ? call_site_stack(number, frames, capacity) : -1;
  return count < 0 ? -EINVAL : count;
}

int mallometer_modules(struct mallometer_module *modules, uint32_t module_size, uint32_t capacity, uint32_t first) {
  if (!modules || module_size < FIRST_MODULE_BYTES) return -EINVAL;
  const struct modules *known = call_sites_are_recorded() ? call_sites_modules() : NULL;
  return known ? (int)modules_copy(known, &(struct rows){modules, module_size, capacity}, first) : -ENODATA;
}

int mallometer_objects(struct mallometer_object *objects, uint32_t object_size, uint32_t capacity) {
  if (!objects || object_size < FIRST_OBJECT_BYTES) return -EINVAL;
  if (!call_sites_are_recorded()) return -ENODATA;
  return (int)live_samples_copy(&(struct rows){objects, object_size, capacity});
}

/* Why objects cannot be moved into slots in this process; NULL if they can. */
static const char *unable_to_observe(void) {
  if (sampler_interval() == 1)
    return "MALLOMETER_SAMPLE_INTERVAL=1 takes every allocation, of which most would not fit";
  if (size_source == SIZE_FROM_HEADER) return "objects have headers (MALLOMETER_ACCOUNTING=header)";
  if (size_source != SIZE_FROM_CHUNK) return "the allocator is not glibc's own, or this is no x86-64";
  return NULL;
}

int mallometer_leaks_start(void) {
  if (!call_sites_are_recorded()) return -ENODATA;
  int saved_errno = errno;
  int result = observation_start(unable_to_observe());
  errno = saved_errno;
  return result;
}

int mallometer_leaks_stop(void) { return observation_stop(); }

int mallometer_leaks(struct mallometer_observation *out) {
  struct mallometer_observation current = {0};
  observation_describe(&current);
  return deliver(out, &current, sizeof current);
}

int mallometer_evidence(struct mallometer_site_evidence *evidence, uint32_t evidence_size, uint32_t capacity,
                        uint32_t first) {
  if (!evidence || evidence_size < FIRST_EVIDENCE_BYTES) return -EINVAL;
  if (!observation_has_evidence()) return -ENODATA;
  return (int)evidence_copy(&(struct rows){evidence, evidence_size, capacity}, first);
}

int mallometer_watch(const uint32_t *sites, uint32_t count) {
  if ((!sites && count > 0) || count > MOST_WATCHED_SITES) return -EINVAL;
  int saved_errno = errno;
  int result = observation_watch(sites, count);
  errno = saved_errno;
  return result;
}

int mallometer_accesses(struct mallometer_access *accesses, uint32_t access_size, uint32_t capacity) {
  if (!accesses || access_size < FIRST_ACCESS_BYTES) return -EINVAL;
  if (!observation_has_evidence()) return -ENODATA;
  return (int)watch_accesses(&(struct rows){accesses, access_size, capacity});
}

int mallometer_jvm_attach(void) {
  if (!call_sites_are_recorded()) return -ENODATA;
  if (!java_frames) return -EPERM;
  int saved_errno = errno;
  int result = jvm_attach();
  errno = saved_errno;
  return result;
}

int mallometer_method_name(uint32_t number, struct mallometer_method *method) {
  struct mallometer_method current = {0};
  int saved_errno = errno;
  int result = method ? jvm_method(number, &current) : -EINVAL;
  errno = saved_errno;
  return result ? result : deliver(method, &current, sizeof current);
}

static void change_interval(size_t bytes) {
  int saved_errno = errno;
  if (bytes > 0) record_call_sites();
  sampler_configure(bytes);
  errno = saved_errno;
}

int mallometer_configure(uint32_t option, uint64_t value) {
  switch (option) {
    case MALLOMETER_OPTION_OVERHEAD_TARGET:
      if (value > 1000000) return -EINVAL;
      sampler_aim((uint32_t)value);
      return 0;
    case MALLOMETER_OPTION_SAMPLE_INTERVAL:
      if (value == 1 || value > PTRDIFF_MAX || sampler_interval() == 1) return -EINVAL;
      change_interval(value);
      return 0;
    case MALLOMETER_OPTION_EPOCH_OVER_COST:
      return observation_spend(value) ? 0 : -EINVAL;
    case MALLOMETER_OPTION_SHORTEST_EPOCH:
      return observation_shorten(value) ? 0 : -EINVAL;
    default:
      return -EINVAL;
  }
}

/*
 * glibc counts slots that it has unmapped as if it had mapped them, too. Those that nobody has noticed yet may take its
 * figure below 0.
 */
static void add_what_slots_took(struct mallometer_allocator_state *figures) {
  uint64_t retired = slots_totals().retired_bytes, mapped = figures->mapped_bytes + retired;
  if (figures->kind != MALLOMETER_ALLOCATOR_GLIBC) return;
  if ((int64_t)mapped < 0) retired -= mapped;
  figures->mapped_bytes += retired;
  figures->system_bytes += retired;
  figures->used_bytes += retired;
}

int mallometer_allocator(struct mallometer_allocator_state *out, struct mallometer_arena *rows, uint32_t row_size,
                         uint32_t capacity) {
  if (row_size < FIRST_ARENA_BYTES || (!rows && capacity > 0)) return -EINVAL;
  if (state == MALLOMETER_STATE_NOT_PRELOADED) return -ENODATA;
  struct mallometer_allocator_state current = {0};
  int saved_errno = errno;
  int result = allocator_figures(&current, &(struct rows){rows, row_size, capacity});
  if (result == 0) add_what_slots_took(&current);
  errno = saved_errno;
  return result ? result : deliver(out, &current, sizeof current);
}

int mallometer_trim(void) {
  if (state == MALLOMETER_STATE_NOT_PRELOADED) return -ENODATA;
  int saved_errno = errno;
  int result = allocator_trim();
  errno = saved_errno;
  return result;
}

int mallometer_record(const char *path) {
  if (!path || !*path) return -EINVAL;
  if (never_counts()) return -ENODATA;
  int saved_errno = errno;
  int result = black_box_start(path);
  errno = saved_errno;
  return result;
}

int mallometer_recording(struct mallometer_black_box *out) {
  struct mallometer_black_box current = {0};
  black_box_describe(&current);
  return deliver(out, &current, sizeof current);
}

int mallometer_self(struct mallometer_report *self) {
  struct mallometer_report current = {0};
  current.state = (uint32_t)state;
  current.byte_unit = byte_unit();
  current.footprint_bytes = image_bytes + thread_blocks_footprint() + bootstrap_footprint() + black_box_footprint() +
                            call_sites_footprint() + observation_footprint() + jvm_footprint();
  current.overhead_ns =
      __atomic_load_n(&overhead_ns, __ATOMIC_RELAXED) + black_box_overhead_ns() + observation_overhead_ns();
  current.threads_without_block = threads_without_block();
  current.huge_threshold_bytes = huge_threshold;
  struct sampler_totals sampled = sampler_totals();
  current.overhead_ns += sampled.time_ns;
  current.sample_interval_bytes = sampler_interval();
  current.samples = sampled.samples;
  current.sampled_bytes = sampled.estimated_bytes;
  current.samples_by_size_only = sampled.unknown_paths;
  struct call_sites_totals sites = call_sites_totals();
  current.samples_without_site = sites.without_site;
  current.samples_not_followed = sites.without_place;
  current.live_samples = sites.live_samples;
  current.call_sites = sites.sites;
  current.samples_truncated = sites.truncated;
  current.samples_without_java = sites.without_java;
  current.sampling_ns = sampled.time_ns;
  current.overhead_target_ppm = sampler_target();
  current.sampling_share_ppm = sampled.share_ppm;
  current.methods = jvm_methods();
  current.modules = call_sites_modules() ? modules_count(call_sites_modules()) : 0;
  current.java = jvm_state();
  current.tables_bytes = call_sites_footprint();
  current.frames_without_method = jvm_frames_without_method();
  current.frames_without_module = call_sites_modules() ? modules_without_room(call_sites_modules()) : 0;
  current.samples_without_stack = sites.without_stack;
  current.event_bytes = sizeof(struct mallometer_event);
  current.arena_bytes = sizeof(struct mallometer_arena);
  current.site_bytes = sizeof(struct mallometer_site);
  current.module_bytes = sizeof(struct mallometer_module);
  current.object_bytes = sizeof(struct mallometer_object);
  current.evidence_bytes = sizeof(struct mallometer_site_evidence);
  current.access_bytes = sizeof(struct mallometer_access);
  strncpy(current.build, MALLOMETER_BUILD, sizeof current.build - 1);
  memcpy(current.allocator, allocator_name, sizeof current.allocator);
  const char *missing = __atomic_load_n(&sites_missing, __ATOMIC_ACQUIRE);
  snprintf(current.reason, sizeof current.reason, "%s%s%s%s", reason, *reason && missing ? "; " : "",
           missing ? "call sites are not recorded: " : "", missing ? missing : "");
  return deliver(self, &current, sizeof current);
}
