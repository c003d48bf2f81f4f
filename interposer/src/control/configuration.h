/* The settings from the environment, read once when the process starts (docs/reference/settings.md). If a value is
 * invalid, the library writes one line to standard error and uses the setting's default. An invalid
 * MALLOMETER_ATTACH counts as "off". */
#ifndef MALLOMETER_CONTROL_CONFIGURATION_H
#define MALLOMETER_CONTROL_CONFIGURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/exit_report.h"
#include "control/log.h"
#include "leak/observation.h"
#include "sample/native_stack.h"

struct configuration {
  bool enabled;
  /* MALLOMETER_ATTACH: whether counting may start in a process that runs already. False after an invalid value. */
  bool may_attach;
  /* MALLOMETER_ONLY names executables, and this one is not among them. */
  bool excluded;
  /* MALLOMETER_ACCOUNTING=header: each object gets a header, which has its size. */
  bool headers;
  /* MALLOMETER_HUGE, in bytes. Larger requests count as huge. */
  size_t huge_threshold;
  /* MALLOMETER_RECORDING, a path. NULL unless the program is named java or MALLOMETER_ONLY names it, because all
   * programs that a script starts inherit the script's variables. */
  const char *recording;
  /* MALLOMETER_AGENT, a jar with options. NULL unless the program is named java or MALLOMETER_ONLY names it. */
  const char *agent;
  /* MALLOMETER_SAMPLE_INTERVAL, in bytes; 0 takes no samples. */
  size_t sample_interval;
  /* MALLOMETER_STACKS: whether samples have stacks, and whether the stacks have Java frames. */
  bool call_sites;
  bool java_frames;
  /* True if MALLOMETER_STACKS or MALLOMETER_SAMPLE_INTERVAL is set: call sites are then recorded from the start. */
  bool call_sites_asked_for;
  /* MALLOMETER_OVERHEAD_TARGET, in millionths; 0 if it is off. */
  uint32_t overhead_target_ppm;
  /* MALLOMETER_UNWIND; UNWIND_OFF if MALLOMETER_STACKS is off. */
  enum unwinding unwinding;
  /* `leaks` is MALLOMETER_LEAKS. `arena_bytes` is MALLOMETER_ARENA_BYTES: the most bytes that may be wasted by
   * giving sampled objects pages of their own (leak/slots.h). */
  enum leaks_wanted leaks;
  size_t arena_bytes;
  /* MALLOMETER_MONITOR: the parts of the report at exit. */
  struct exit_report exit_report;
  enum log_level log;
};

/* Reads the variables from `environment`, a NULL-terminated array of NAME=VALUE (may be NULL). `executable` is the
 * path of the running program, for MALLOMETER_ONLY; if it is NULL, MALLOMETER_ONLY excludes nothing. */
struct configuration configuration_read(char *const environment[], const char *executable);

#endif
