/* Starts the library in a process, handles forks, and switches counting on and off. See process.h. */
#include "control/process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "account/huge_requests.h"
#include "account/monitors.h"
#include "account/ranges.h"
#include "account/scopes.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/figures.h"
#include "allocator/next.h"
#include "control/configuration.h"
#include "control/exit_report.h"
#include "control/java_agent.h"
#include "control/log.h"
#include "control/owners.h"
#include "control/recording.h"
#include "control/refusal.h"
#include "control/snapshot.h"
#include "hooks/mappings.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "jvm/attach.h"
#include "jvm/cleaners.h"
#include "leak/observation.h"
#include "leak/safety_test.h"
#include "leak/search.h"
#include "mallometer.h"
#include "platform/clock.h"
#include "platform/dynamic_symbols.h"
#include "platform/executable.h"
#include "platform/keep_errno.h"
#include "platform/libc.h"
#include "platform/loaded_objects.h"
#include "platform/loader.h"
#include "sample/call_sites.h"
#include "sample/live_samples.h"
#include "sample/native_stack.h"
#include "sample/sampler.h"

#ifndef MALLOMETER_BUILD
#error "the build defines MALLOMETER_BUILD, a string such as \"0.1.0\""
#endif

static int state = MALLOMETER_STATE_COUNTING;
static char allocator_name[sizeof((struct mallometer_report *)0)->allocator];
/* Points to a constant or to one of reason_texts. A new reason is written into the other text, because readers may
 * still read the present one. */
static const char *reason = "";
static char reason_texts[2][sizeof((struct mallometer_report *)0)->reason];
static enum unwinding unwinding;
static const char *wanted_recording;
static const char *wanted_agent;
static bool java_frames;
static struct exit_report wanted_report;
static pid_t loaded_in;
static bool stacks_started;
static bool call_sites_wanted;
static bool attaches; /* whether counting starts in a process that is running already */
/* True while MALLOMETER_ENABLED keeps counting off. The library then reserves no memory and writes no file. */
static bool switched_off;
/* The reason why call sites are not recorded although they are wanted. */
static const char *sites_missing;

/* ---- State -------------------------------------------------------------------------------------------- */

void process_set_state(int new_state, const char *format, ...) {
  char wanted[sizeof reason_texts[0]];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(wanted, sizeof wanted, format, arguments);
  va_end(arguments);
  if (strcmp(wanted, reason) != 0) {
    char *text = reason_texts[reason == reason_texts[0]];
    memcpy(text, wanted, strlen(wanted) + 1);
    __atomic_store_n(&reason, text, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&state, new_state, __ATOMIC_RELEASE);
}

/* ---- Switching off, and MALLOMETER_ACCOUNTING=header (each object gets a header with its size) --------- */

static void switch_off(int why, const char *text) {
  state = why;
  reason = text;
  hook_set_counting(false);
  ranges_forget();
}

bool process_never_counts(void) {
  return state == MALLOMETER_STATE_NOT_PRELOADED || state == MALLOMETER_STATE_EXCLUDED ||
         state == MALLOMETER_STATE_UNSUPPORTED;
}

static void refuse_or_use_headers(void) {
  char name[64];
  if (next_allocator_tags_memory()) {
    process_set_state(
        state,
        "MALLOMETER_ACCOUNTING=header is not possible, because the allocator tags memory; usable sizes are used");
  } else if (find_object_bypassing_interposers(name, sizeof name)) {
    process_set_state(
        state, "MALLOMETER_ACCOUNTING=header is not possible, because %s calls __libc_free; usable sizes are used",
        name);
  } else if (hook_use_headers()) {
    return;
  } else {
    process_set_state(state, "MALLOMETER_ACCOUNTING=header is not possible on macOS; usable sizes are used");
  }
  log_line(LOG_WARN, "%s", reason);
}

static void warn_of_removed_deepbind(const char *file) {
  log_line(LOG_WARN,
           "MALLOMETER_ACCOUNTING=header: %s is opened without RTLD_DEEPBIND, because with that flag its frees would "
           "miss the headers",
           file ? file : "the executable");
}

/* ---- Call sites --------------------------------------------------------------------------------------- */

/* Calls hook_choose_route() before call_sites_open(): free() must already look for samples when the first sample is
 * taken. */
void process_record_call_sites(void) {
  static bool said;
  if (!call_sites_wanted || call_sites_on() || process_never_counts() || switched_off) return;
  const char *missing = call_sites_start();
  __atomic_store_n(&sites_missing, missing, __ATOMIC_RELEASE);
  if (!missing) {
    hook_choose_route();
    call_sites_open();
    mappings_start(attaches);
  } else if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) {
    log_line(LOG_WARN, "call sites are not recorded: %s", missing);
  }
}

bool process_has_call_sites(void) {
  KEEP_ERRNO;
  if (sampler_interval() > 0) process_record_call_sites();
  return call_sites_on();
}

static bool is_of_call_sites(const char *function) {
  static const char *const functions[] = {"mallometer_sites",        "mallometer_site_stack",  "mallometer_objects",
                                          "mallometer_modules",      "mallometer_leaks_start", "mallometer_jvm_attach",
                                          "mallometer_search_start", "JNI_CreateJavaVM"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strcmp(function, functions[i]) == 0) return true;
  }
  return false;
}

/* Returns whether to record call sites from the start: if settings ask for them, or if the program refers to
 * functions that need them. */
static bool will_ask_for_call_sites(const struct configuration *configuration) {
  return configuration->call_sites_asked_for || refers_to(first_object(), is_of_call_sites);
}

static void before_jvm_load(void) { process_has_call_sites(); }

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void warn_of_internals(const char *file) {
  if (!file_contains_internal_names(file)) return;
  log_line(LOG_WARN,
           "MALLOMETER_ACCOUNTING=header: %s calls __libc_free, which will abort the program; do not use this setting",
           base_name(file));
}

/* ---- Start and fork ----------------------------------------------------------------------------------- */

static struct configuration apply_configuration(void) {
  char path[4096];
  clock_start();
  struct configuration configuration = configuration_read(process_environment(), executable_path(path, sizeof path));
  huge_requests_start(configuration.huge_threshold);
  sampler_set_interval(configuration.sample_interval);
  sampler_set_target(configuration.overhead_target_ppm);
  java_frames = configuration.java_frames;
  call_sites_wanted = configuration.call_sites;
  unwinding = configuration.unwinding;
  observation_configure(configuration.leaks, configuration.arena_bytes);
  safety_test_store_environment(process_environment());
  wanted_recording = executable_is_privileged() ? NULL : configuration.recording;
  wanted_agent = executable_is_privileged() ? NULL : configuration.agent;
  if (!executable_is_privileged()) wanted_report = configuration.exit_report;
  return configuration;
}

/* Runs at the first event, when the C library knows the environment but hardly any code of the program has run. */
static void configure(void) {
  const char *objection = libc_objection();
  if (objection) {
    process_set_state(state, "nothing is counted: %s", objection);
    switch_off(MALLOMETER_STATE_UNSUPPORTED, reason);
    return;
  }
  struct configuration configuration = apply_configuration();
  if (configuration.excluded) {
    switch_off(MALLOMETER_STATE_EXCLUDED, "MALLOMETER_ONLY does not name this executable");
    return;
  }
  if (configuration.headers) refuse_or_use_headers();
  if (!configuration.enabled) {
    switched_off = true;
    wanted_recording = NULL;
    wanted_agent = NULL;
    wanted_report = (struct exit_report){.maximum = false};
    switch_off(MALLOMETER_STATE_DISABLED, "switched off by MALLOMETER_ENABLED");
    return;
  }
  if (configuration.call_sites && configuration.sample_interval > 0 && will_ask_for_call_sites(&configuration))
    process_record_call_sites();
}

const struct hook_owner hook_owner = {hook_find_allocator, configure, warn_of_removed_deepbind, warn_of_internals,
                                      before_jvm_load};

/* Stores the reason why the program's calls of malloc do not reach the library. Must not allocate, because `first`,
 * the malloc that the program calls, may not be ready. */
static void explain_not_preloaded(const void *first) {
  const struct link_map *serving = object_of(first);
  if (malloc_is_replaced) {
    process_set_state(
        MALLOMETER_STATE_NOT_PRELOADED,
        "a memory checker replaces malloc; with Valgrind add --soname-synonyms=somalloc=nouserintercepts");
  } else if (serving == object_of(address_in_libc())) {
    process_set_state(
        MALLOMETER_STATE_NOT_PRELOADED,
        "loaded after the process started; call mallometer_attach(), or name the library in %s and restart",
        preload_variable);
  } else if (serving == first_object()) {
    process_set_state(MALLOMETER_STATE_NOT_PRELOADED,
                      "the malloc of %s comes first: a malloc that is linked into the executable cannot be counted",
                      executable_name());
  } else if (serving) {
    process_set_state(MALLOMETER_STATE_NOT_PRELOADED, "the malloc of %s comes first; name mallometer before it in %s",
                      object_file_name(serving), preload_variable);
  }
}

static void name_allocator(void) {
  next_allocator_name(allocator_name, sizeof allocator_name);
  allocator_find();
  allocator_name_version(allocator_name, sizeof allocator_name);
  forget_loader_errors();
}

static void in_forked_child(void) {
  loaded_objects_forked();
  scopes_forked();
  monitors_forked();
  huge_requests_forked();
  hook_forked();
  thread_blocks_forked();
  totals_forked();
  live_samples_forked();
  call_sites_forked();
  recording_forked();
  jvm_forked();
  cleaners_forked();
  observation_forked();
  search_forked();
  owners_forked();
  mappings_forked();
}

/* Starts the unwinder. Events are not counted meanwhile, because the loader allocates an error message when a
 * look-up fails. */
static void start_stacks(void) {
  struct thread_block *own = thread_block_leave();
  unwinding = native_stack_start(unwinding);
  forget_loader_errors();
  thread_block_return(own);
  after_fork_in_child(in_forked_child);
  stacks_started = true;
}

void process_start_reports(void) {
  exit_report_start(wanted_report);
  if (wanted_recording) process_record(wanted_recording);
  log_line(LOG_INFO, "%s over %s, %s", MALLOMETER_BUILD, allocator_name, *reason ? reason : "counting");
}

static void begin(void) {
  loaded_in = getpid();
  mappings_find_next();
  bool ours = program_malloc_is_ours();
  if (!ours)
    hook_find_operators(); /* the allocator is found later, because its look-up might make the loader call malloc */
  if (!ours || !hook_ready() || !malloc_leads_here) state = MALLOMETER_STATE_NOT_PRELOADED;
  const void *serving = ours ? (const void *)(uintptr_t)next.malloc : first_definition("malloc", first_object(), NULL);
  if (is_of_sanitizer(serving)) {
    reason = "nothing is counted: the program is built with a sanitizer, which needs its own malloc";
    return;
  }
  own_image_measure();
  if (state == MALLOMETER_STATE_NOT_PRELOADED) {
    explain_not_preloaded(serving);
    return;
  }
  name_allocator();
  if (process_never_counts()) return;
  start_stacks();
  process_start_reports();
}

/* Runs before main. Preserves errno, because it must be 0 when main begins. */
__attribute__((constructor)) static void start(void) {
  KEEP_ERRNO;
  begin();
  if (wanted_agent) java_agent_append(wanted_agent);
}

/* ---- Counting in a process that runs already ---------------------------------------------------------- */

bool process_was_forked(void) { return getpid() != loaded_in; }

static const char *objection_to(const struct configuration *configuration) {
  if (configuration->excluded) return "MALLOMETER_ONLY does not name this executable";
  if (!configuration->may_attach) return "MALLOMETER_ATTACH=off";
  if (!configuration->enabled) return "switched off by MALLOMETER_ENABLED";
  if (configuration->headers) return "MALLOMETER_ACCOUNTING=header needs LD_PRELOAD: other objects have no header";
  return NULL;
}

const char *process_objection(void) {
  static bool asked;
  static const char *objection;
  if (asked) return objection;
  asked = true;
  struct configuration configuration = apply_configuration();
  return objection = objection_to(&configuration);
}

void process_note_mappings(void) {
  if (call_sites_on()) mappings_start(attaches);
}

void process_prepare(void) {
  attaches = true;
  call_sites_forget();
  observation_forget();
  if (stacks_started) return;
  name_allocator();
  start_stacks();
}

/* ---- Switches ----------------------------------------------------------------------------------------- */

static bool can_be_switched(void) { return state == MALLOMETER_STATE_COUNTING || state == MALLOMETER_STATE_DISABLED; }

int process_disable(void) {
  if (!can_be_switched()) return -ENODATA;
  switch_off(MALLOMETER_STATE_DISABLED, "mallometer_disable() was called");
  return 0;
}

int process_enable(void) {
  if (!can_be_switched()) return -ENODATA;
  switched_off = false;
  state = MALLOMETER_STATE_COUNTING;
  reason = hook_was_off() ? "counting was off for a time; live and peak bytes are unknown" : "";
  hook_set_counting(true);
  process_note_mappings();
  return 0;
}

/* ---- The state, for readers --------------------------------------------------------------------------- */

int process_state(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE); }

static size_t append_reason(char *text, size_t capacity, size_t length, const char *what, const char *why) {
  if (!why || !*why || length >= capacity) return length;
  int added = snprintf(text + length, capacity - length, "%s%s%s", length > 0 ? "; " : "", what, why);
  return added > 0 ? length + (size_t)added : length;
}

void process_reason(char *text, size_t capacity) {
  const char *missing = __atomic_load_n(&sites_missing, __ATOMIC_ACQUIRE);
  if (capacity > 0) *text = 0;
  size_t length = append_reason(text, capacity, 0, "", __atomic_load_n(&reason, __ATOMIC_ACQUIRE));
  length = append_reason(text, capacity, length, "call sites are not recorded: ", missing);
  if (call_sites_on()) append_reason(text, capacity, length, "mappings are not recorded: ", mappings_missing());
}

const char *process_allocator(void) { return allocator_name; }

bool process_wants_java_frames(void) { return java_frames; }

uint32_t process_byte_unit(void) {
  switch (size_source) {
    case SIZE_FROM_CHUNK:
      return MALLOMETER_UNIT_GLIBC_CHUNK;
    case SIZE_FROM_HEADER:
      return MALLOMETER_UNIT_REQUESTED;
    default:
      return MALLOMETER_UNIT_USABLE;
  }
}

static bool has_begun_to_count(void) {
  int now = process_state();
  return now == MALLOMETER_STATE_COUNTING || now == MALLOMETER_STATE_DISABLED;
}

static struct recording_writer writer(void) {
  return (struct recording_writer){MALLOMETER_BUILD, allocator_name, process_byte_unit(), has_begun_to_count};
}

int process_record(const char *path) {
  const struct recording_writer origin = writer();
  return recording_start(path, &origin);
}

int process_write_message(const char *path) {
  const struct recording_writer origin = writer();
  return recording_start_message(path, &origin);
}
