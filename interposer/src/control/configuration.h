/*
 * The settings from the environment, read once when the process starts. An invalid value is reported in one line on
 * standard error, and the default is used (for MALLOMETER_ATTACH: off). docs/reference/settings.md is the reference for
 * users.
 */
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
  /* MALLOMETER_ENABLED */
  bool enabled;
  /* MALLOMETER_ATTACH: off, or an invalid value, forbids counting in a process that runs already. */
  bool may_attach;
  /* MALLOMETER_ONLY names executables, and this one is not among them. */
  bool excluded;
  /* MALLOMETER_ACCOUNTING=header instead of usable. */
  bool headers;
  /* MALLOMETER_HUGE, in bytes. */
  size_t huge_threshold;
  /*
   * MALLOMETER_RECORDING, a path. NULL unless the program is named java or is in MALLOMETER_ONLY: every program that a
   * script starts inherits the variable, and the first would take the file.
   */
  const char *recording;
  /* MALLOMETER_AGENT, a jar with options. NULL for the programs for which `recording` is NULL. */
  const char *agent;
  /* MALLOMETER_SAMPLE_INTERVAL, in bytes; 0: no samples. */
  size_t sample_interval;
  /* MALLOMETER_STACKS: whether stacks are taken of samples, and not only of huge requests; whether stacks have Java
   * frames. */
  bool call_sites;
  bool java_frames;
  /* MALLOMETER_STACKS or MALLOMETER_SAMPLE_INTERVAL is set, so call sites are recorded from the start. */
  bool call_sites_asked_for;
  /* MALLOMETER_OVERHEAD_TARGET, in millionths; 0: none. */
  uint32_t overhead_target_ppm;
  /* The way to take stacks: MALLOMETER_UNWIND, unless MALLOMETER_STACKS=off. */
  enum unwinding unwinding;
  /* MALLOMETER_LEAKS; MALLOMETER_ARENA_BYTES, the most bytes that slots (pages of single objects) take in addition to
   * their objects. */
  enum leaks_wanted leaks;
  size_t arena_bytes;
  /* MALLOMETER_MONITOR */
  struct exit_report exit_report;
  /* MALLOMETER_LOG */
  enum log_level log;
};

/*
 * Reads the variables from `environment`, a NULL-terminated array of NAME=VALUE (may be NULL). `executable` is the
 * path of the running program, for MALLOMETER_ONLY; NULL if unknown (then MALLOMETER_ONLY excludes nothing).
 */
struct configuration configuration_read(char *const environment[], const char *executable);

#endif
