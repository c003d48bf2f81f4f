/*
 * The termination message: the content of the file that Kubernetes shows as the last state of a container. While memory
 * is scarce, the file holds the diagnosis, so Kubernetes can show the diagnosis even after an OOM kill. The file is
 * emptied when memory is no longer scarce, and when the process calls exit() or returns from main.
 *
 * Other programs of the container may use the file. The library therefore never creates it, takes it only if it is
 * regular, empty and not locked, and keeps it locked. After another program has written to the file, the library never
 * uses it again. Each message is one write of MESSAGE_BYTES, which a kill cannot tear.
 *
 * No descriptor stays open: the program could close and reuse it, and a checkpoint of the JVM would refuse an open
 * file. The file is opened for each change, and a mapping keeps the lock. A forked child has no mapping and writes
 * nothing.
 */
#ifndef MALLOMETER_CONTROL_TERMINATION_MESSAGE_H
#define MALLOMETER_CONTROL_TERMINATION_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

#define MESSAGE_BYTES 1024u
/* The most bytes of Java's sentence, which states the diagnosis. */
#define MESSAGE_SENTENCE_BYTES 512u

/* Begins to use the file at `path`. Returns 0 or a negative error code, as mallometer_message_start() does. */
int message_start(const char *path);

/*
 * Empties the file and stops using it, as mallometer_message_stop() does. Waits up to 0.1 s for a write in progress.
 */
void message_stop(void);

/* Stores the diagnosis, a sentence from Java, for the next messages. Each byte that is not printable ASCII becomes a
 * question mark. */
void message_set_sentence(const char *sentence, uint32_t length);

bool message_is_on(void);

/* Writes the time, `clause` (about the present memory), and the diagnosis that message_set_sentence() stored, with
 * the seconds since then. Only the recorder's thread calls this. */
void message_write(const char *clause);

void message_clear(void);

void message_describe(struct mallometer_message_status *out);

void message_forked(void);

#endif
