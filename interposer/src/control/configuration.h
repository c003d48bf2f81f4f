/*
 * The environment, read once when the process starts. A value that makes no sense yields its default and one line
 * on standard error. docs/reference/environment.md is the reference for users.
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
  /* MALLOMETER_ATTACH=off, or what is not understood, forbids it to count in a process that runs already. */
  bool may_attach;
  /* MALLOMETER_ONLY names executables, and this one is not among them. */
  bool excluded;
  /* MALLOMETER_ACCOUNTING=header rather than usable. */
  bool headers;
  /* MALLOMETER_HUGE, in bytes. */
  size_t huge_threshold;
  /*
   * MALLOMETER_RECORDING, a path, if it is meant for this program: one named java, or one that MALLOMETER_ONLY names.
   * Every program that a script starts sees the variable, and the first would take the file. NULL otherwise.
   */
  const char *recording;
  /* MALLOMETER_AGENT, a jar with options, if it is meant for this program in the same way. NULL otherwise. */
  const char *agent;
  /* MALLOMETER_SAMPLE_INTERVAL, in bytes; 0: no samples. */
  size_t sample_interval;
  /* MALLOMETER_STACKS=native or java: samples have stacks too, not only huge requests; Java frames in them. */
  bool call_sites;
  bool java_frames;
  /* One of the two variables is set, to what records them: somebody will ask for call sites. */
  bool call_sites_asked_for;
  /* MALLOMETER_OVERHEAD_TARGET, in millionths; 0: none. */
  uint32_t overhead_target_ppm;
  /* MALLOMETER_STACKS=off, else MALLOMETER_UNWIND. */
  enum unwinding unwinding;
  /* MALLOMETER_LEAKS, and MALLOMETER_ARENA_BYTES: how much slots may take beyond their objects. */
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
