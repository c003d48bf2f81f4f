/*
 * The environment, read once when the process starts. A value that makes no sense yields its default and one line
 * on standard error. docs/environment.md is the reference for users.
 */
#ifndef MALLOMETER_CONTROL_CONFIGURATION_H
#define MALLOMETER_CONTROL_CONFIGURATION_H

#include <stdbool.h>
#include <stddef.h>

#include "control/log.h"

struct configuration {
  /* MALLOMETER_ENABLED */
  bool enabled;
  /* MALLOMETER_ONLY names executables, and this one is not among them. */
  bool excluded;
  /* MALLOMETER_ACCOUNTING=header rather than usable. */
  bool headers;
  /* MALLOMETER_LARGE, in bytes. */
  size_t huge_threshold;
  /* MALLOMETER_LOG */
  enum log_level log;
};

/*
 * Reads the variables from `environment`, a NULL-terminated array of NAME=VALUE (may be NULL). `executable` is the
 * path of the running program, for MALLOMETER_ONLY; NULL if unknown (then MALLOMETER_ONLY excludes nothing).
 */
struct configuration configuration_read(char *const environment[], const char *executable);

#endif
