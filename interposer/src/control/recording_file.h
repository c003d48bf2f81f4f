/*
 * Creates the recording's file and moves the files of previous runs.
 *
 * The file gets its name only when its header is written and all its blocks are allocated. Readers therefore see no
 * incomplete file, and a full disk cannot turn a later store into a signal. The mapping keeps the file open and locked,
 * so there is no descriptor that the program could close and reuse.
 *
 * The previous run's file becomes FILE.previous. The earlier FILE.previous becomes FILE.kept if its run lasted five
 * minutes or there is no FILE.kept. FILE.kept therefore keeps a long run even if the container then restarts every few
 * seconds. Only recordings of this user are moved or overwritten.
 */
#ifndef MALLOMETER_CONTROL_RECORDING_FILE_H
#define MALLOMETER_CONTROL_RECORDING_FILE_H

#include <stddef.h>

#include "control/recording_format.h"

#define RECORDING_PATH_BYTES 1024

/* Creates and maps the file at the absolute path. Forked children do not inherit the mapping. On failure returns NULL
 * and writes `reason`. May change errno. */
void *recording_create(const char *path, const struct recording_header *header, char *reason, size_t reason_bytes);

#endif
