/* Reads the MALLOMETER_* variables, and reports invalid values. See configuration.h. */
#include "control/configuration.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "account/thread_block.h"
#include "sample/sampler.h"

#define DEFAULT_HUGE ((size_t)64 << 20)
#define LONGEST_RECORDING_PATH 700u

static const char *value_of(char *const environment[], const char *name) {
  size_t length = strlen(name);
  for (char *const *entry = environment; entry && *entry; entry++) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      const char *value = *entry + length + 1;
      return *value ? value : NULL; /* an empty variable counts as not set */
    }
  }
  return NULL;
}

/*
 * Reports an invalid value. Shows at most 63 of its characters, and a question mark for each that is not printable.
 */
static void refuse(const char *name, const char *value, const char *expected, const char *used) {
  char shown[64];
  size_t length = strnlen(value, sizeof shown - 1);
  for (size_t i = 0; i < length; i++) {
    shown[i] = value[i] < ' ' || value[i] > '~' ? '?' : value[i];
  }
  shown[length] = '\0';
  log_line(LOG_WARN, "%s=%s is not %s; using %s", name, shown, expected, used);
}

static bool is_one_of(const char *value, const char *const choices[]) {
  for (; *choices; choices++) {
    if (strcasecmp(value, *choices) == 0) return true;
  }
  return false;
}

static bool read_boolean(char *const environment[], const char *name, bool otherwise) {
  static const char *const yes[] = {"true", "1", "yes", "on", NULL};
  static const char *const no[] = {"false", "0", "no", "off", NULL};
  const char *value = value_of(environment, name);
  if (!value) return otherwise;
  if (is_one_of(value, yes)) return true;
  if (is_one_of(value, no)) return false;
  refuse(name, value, "true or false", otherwise ? "true" : "false");
  return otherwise;
}

/* Parses digits and an optional unit, a power of 1024: "67108864", "64k", "64m", "64MiB", "1g". */
static bool parse_bytes(const char *text, size_t *bytes) {
  size_t number = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) {
    if (__builtin_mul_overflow(number, (size_t)10, &number)) return false;
    if (__builtin_add_overflow(number, (size_t)(*at - '0'), &number)) return false;
  }
  if (at == text) return false;
  static const char units[] = "kmgt";
  unsigned shift = 0;
  if (*at) {
    const char *unit = strchr(units, *at | 0x20);
    if (!unit) return false;
    shift = 10 * (unsigned)(unit - units + 1);
    at++;
    if (strcmp(at, "") != 0 && strcmp(at, "B") != 0 && strcmp(at, "iB") != 0) return false;
  }
  if (number > SIZE_MAX >> shift) return false;
  *bytes = number << shift;
  return true;
}

/* Returns `otherwise`, the default, if the variable is not set or invalid. The texts `expected` and `used` are parts
 * of the warning about an invalid value. */
static size_t read_size(char *const environment[], const char *name, size_t least, size_t otherwise,
                        const char *expected, const char *used) {
  const char *value = value_of(environment, name);
  size_t bytes;
  if (!value) return otherwise;
  if (parse_bytes(value, &bytes) && bytes >= least && bytes <= PTRDIFF_MAX) return bytes;
  refuse(name, value, expected, used);
  return otherwise;
}

static enum leaks_wanted read_leaks(char *const environment[]) {
  const char *value = value_of(environment, "MALLOMETER_LEAKS");
  if (!value || strcmp(value, "on") == 0) return LEAKS_WANTED;
  if (strcmp(value, "off") == 0) return LEAKS_UNWANTED;
  if (strcmp(value, "clear_refs") == 0) return LEAKS_WANTED_BY_CLEAR_REFS;
  refuse("MALLOMETER_LEAKS", value, "on, off or clear_refs", "on");
  return LEAKS_WANTED;
}

static bool read_accounting(char *const environment[]) {
  const char *value = value_of(environment, "MALLOMETER_ACCOUNTING");
  if (!value || strcmp(value, "usable") == 0) return false;
  if (strcmp(value, "header") == 0) return true;
  refuse("MALLOMETER_ACCOUNTING", value, "usable or header", "usable");
  return false;
}

static void read_stacks(char *const environment[], struct configuration *configuration) {
  const char *stacks = value_of(environment, "MALLOMETER_STACKS"), *unwind = value_of(environment, "MALLOMETER_UNWIND");
  configuration->unwinding = UNWIND_BY_TABLES;
  if (unwind && strcmp(unwind, "fp") == 0) {
    configuration->unwinding = UNWIND_BY_FRAME_POINTERS;
  } else if (unwind && strcmp(unwind, "dwarf") != 0) {
    refuse("MALLOMETER_UNWIND", unwind, "dwarf or fp", "dwarf");
  }
  configuration->java_frames = !stacks || strcmp(stacks, "java") == 0;
  configuration->call_sites = configuration->java_frames || strcmp(stacks, "native") == 0;
  if (configuration->call_sites || strcmp(stacks, "large") == 0) return;
  if (strcmp(stacks, "off") == 0) {
    configuration->unwinding = UNWIND_OFF;
  } else {
    refuse("MALLOMETER_STACKS", stacks, "off, large, native or java", "java");
    configuration->java_frames = configuration->call_sites = true;
  }
}

/* Parses "1%", "0.5%" or "off" into millionths: at most 100 %, with up to four decimals. */
static bool parse_percent(const char *text, uint32_t *ppm) {
  if (strcmp(text, "off") == 0) {
    *ppm = 0;
    return true;
  }
  uint32_t value = 0, unit = 10000;
  const char *at = text;
  for (; *at >= '0' && *at <= '9' && value <= 100; at++) value = value * 10 + (uint32_t)(*at - '0');
  if (at == text || value > 100) return false;
  value *= unit;
  if (*at == '.') {
    for (at++; *at >= '0' && *at <= '9' && unit > 1; at++) value += (unit /= 10) * (uint32_t)(*at - '0');
  }
  if (strcmp(at, "%") != 0 || value == 0 || value > 1000000) return false;
  *ppm = value;
  return true;
}

static uint32_t read_overhead_target(char *const environment[]) {
  const char *value = value_of(environment, "MALLOMETER_OVERHEAD_TARGET");
  uint32_t ppm;
  if (!value) return DEFAULT_OVERHEAD_TARGET;
  if (parse_percent(value, &ppm)) return ppm;
  refuse("MALLOMETER_OVERHEAD_TARGET", value, "a share such as 1% or 0.5%, or off", "0.5%");
  return DEFAULT_OVERHEAD_TARGET;
}

/* A mistyped value forbids the attach. The Java bridge reads this variable, too. */
static bool read_attach(char *const environment[]) {
  static const char *const yes[] = {"auto", "early", "true", "1", "yes", "on", NULL};
  static const char *const no[] = {"false", "0", "no", "off", NULL};
  const char *value = value_of(environment, "MALLOMETER_ATTACH");
  if (!value || is_one_of(value, yes)) return true;
  if (!is_one_of(value, no)) refuse("MALLOMETER_ATTACH", value, "auto, early or off", "off");
  return false;
}

static bool is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && strncmp(text, word, length) == 0;
}

static struct exit_report read_monitor(char *const environment[]) {
  struct exit_report report = {.maximum = false};
  const char *value = value_of(environment, "MALLOMETER_MONITOR");
  for (const char *at = value; at && *at;) {
    size_t length = strcspn(at, ",");
    if (is_word(at, length, "maximum")) {
      report.maximum = true;
    } else if (is_word(at, length, "histogram")) {
      report.histogram = true;
    } else if (is_word(at, length, "usable-sizes")) {
      report.returned = true;
    } else if (is_word(at, length, "threshold")) {
      report.threshold = true;
    } else {
      refuse("MALLOMETER_MONITOR", value, "a list of maximum, histogram, usable-sizes and threshold", "the known ones");
    }
    at += length;
    at += *at == ',';
  }
  return report;
}

static enum log_level read_log(char *const environment[]) {
  const char *value = value_of(environment, "MALLOMETER_LOG");
  if (!value || strcmp(value, "warn") == 0) return LOG_WARN;
  if (strcmp(value, "off") == 0) return LOG_OFF;
  if (strcmp(value, "info") == 0) return LOG_INFO;
  refuse("MALLOMETER_LOG", value, "off, warn or info", "warn");
  return LOG_WARN;
}

static bool list_contains(const char *list, const char *executable) {
  const char *slash = strrchr(executable, '/');
  const char *name = slash ? slash + 1 : executable;
  size_t name_length = strlen(name);
  while (*list) {
    size_t length = strcspn(list, ",");
    if (length == name_length && strncmp(list, name, length) == 0) return true;
    list += length;
    list += *list == ',';
  }
  return false;
}

/* Returns the variable if the program is named java or MALLOMETER_ONLY names it, otherwise NULL: the other programs
 * of a script inherit the variable, but must ignore it. */
static const char *value_for_java(char *const environment[], const char *name, const char *executable, bool named) {
  return named || (executable && list_contains("java", executable)) ? value_of(environment, name) : NULL;
}

static const char *read_recording(char *const environment[], const char *executable, bool named) {
  const char *value = value_for_java(environment, "MALLOMETER_RECORDING", executable, named);
  if (!value) return NULL;
  if (strnlen(value, LONGEST_RECORDING_PATH + 1) <= LONGEST_RECORDING_PATH) return value;
  refuse("MALLOMETER_RECORDING", value, "a path of at most 700 bytes", "none");
  return NULL;
}

struct configuration configuration_read(char *const environment[], const char *executable) {
  struct configuration configuration = {.huge_threshold = DEFAULT_HUGE};
  const char *only = value_of(environment, "MALLOMETER_ONLY");
  bool named = only && executable && list_contains(only, executable);
  configuration.excluded = only && executable && !named;
  if (configuration.excluded) return configuration;
  configuration.log = read_log(environment);
  log_threshold = configuration.log;
  configuration.may_attach = read_attach(environment);
  configuration.enabled = read_boolean(environment, "MALLOMETER_ENABLED", true);
  configuration.headers = read_accounting(environment);
  read_stacks(environment, &configuration);
  configuration.sample_interval = read_size(environment, "MALLOMETER_SAMPLE_INTERVAL", 0, DEFAULT_SAMPLE_INTERVAL,
                                            "a size such as 512k, or 0", "512k");
  configuration.call_sites_asked_for =
      value_of(environment, "MALLOMETER_STACKS") || value_of(environment, "MALLOMETER_SAMPLE_INTERVAL");
  configuration.overhead_target_ppm = read_overhead_target(environment);
  configuration.huge_threshold = read_size(environment, "MALLOMETER_HUGE", LARGEST_FAST_REQUEST, DEFAULT_HUGE,
                                           "a size of 32k or more such as 64m", "64m");
  configuration.exit_report = read_monitor(environment);
  configuration.leaks = read_leaks(environment);
  configuration.arena_bytes = read_size(environment, "MALLOMETER_ARENA_BYTES", 0, DEFAULT_ARENA_BYTES,
                                        "a size such as 16m, or 0", "16m");
  configuration.recording = read_recording(environment, executable, named);
  configuration.agent = value_for_java(environment, "MALLOMETER_AGENT", executable, named);
  return configuration;
}
