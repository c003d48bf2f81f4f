/*
 * Creating the recording's file, next to what may lie there already.
 *
 * The file appears under its name complete, with its header and all its blocks allocated, so that nobody ever sees half
 * of one and a full disk cannot turn a later store into a signal. It is locked for as long as it is mapped, which needs
 * no descriptor that the program could close and reuse: the mapping keeps the open file, and the open file the lock.
 *
 * The life that ended before is moved to FILE.previous. What that displaces goes to FILE.kept if it lasted five minutes
 * or there is none yet, so that a container that restarts every few seconds does not push out the life that explains
 * why. Nothing is moved or overwritten that is not a recording of this user.
 */
#ifndef MALLOMETER_CONTROL_RECORDING_FILE_H
#define MALLOMETER_CONTROL_RECORDING_FILE_H

#include <stddef.h>

#include "control/recording_format.h"

/* Longest path of a recording, NUL included. */
#define RECORDING_PATH_BYTES 1024

/*
 * Creates and maps the file at the absolute path; the mapping is not inherited by forked children. Returns NULL and
 * writes why into `reason` if that is not possible. Sets errno.
 */
void *recording_create(const char *path, const struct recording_header *header, char *reason, size_t reason_bytes);

#endif
