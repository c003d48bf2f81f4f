/*
 * Creates the recording's file beside the files of previous runs.
 *
 * The file appears under its name complete, with its header and all its blocks allocated: no reader sees half of it,
 * and a full disk cannot turn a later store into a signal. The mapping keeps the file open and locked, so no descriptor
 * is needed, which the program could close and reuse.
 *
 * The file of the previous run is moved to FILE.previous. The earlier FILE.previous is moved to FILE.kept if its run
 * lasted five minutes or FILE.kept does not exist. So a container that restarts every few seconds does not lose the run
 * that explains why. Only recordings of this user are moved or overwritten.
 */
#ifndef MALLOMETER_CONTROL_RECORDING_FILE_H
#define MALLOMETER_CONTROL_RECORDING_FILE_H

#include <stddef.h>

#include "control/recording_format.h"

/* Longest path of a recording, NUL included. */
#define RECORDING_PATH_BYTES 1024

/*
 * Creates and maps the file at the absolute path; forked children do not inherit the mapping. Returns NULL and writes
 * the reason into `reason` if that fails. May change errno.
 */
void *recording_create(const char *path, const struct recording_header *header, char *reason, size_t reason_bytes);

#endif
