/*
 * The termination message: text in the file whose content Kubernetes shows as the last state of a container that ended,
 * whatever ended it. The message holds the diagnosis while memory is scarce, so that the message of an OOM kill names
 * the line of code. The file is emptied when memory is no longer scarce, and when the process ends by exit() or returns
 * from main.
 *
 * The file is the kubelet's, and other programs of the container may use it. So the library never creates it, takes it
 * only if it is a regular, empty file that nobody has locked, and keeps it locked. Before each change the library
 * compares the content with the latest message; if another program has written to the file, the library never uses it
 * again. A message is one write of MESSAGE_BYTES at the beginning, because a kill in the middle tears no such write.
 *
 * No descriptor stays open, which the program could close and reuse, or which a checkpoint would refuse: the file is
 * opened anew for each change, and a mapping that nothing accesses keeps the lock. A forked child has no mapping and
 * writes nothing.
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

/* Takes the file, as mallometer_message_start() does. */
int message_start(const char *path);

/* Empties the file and stops using it, as mallometer_message_stop() does. Waits up to a tenth of a second for a write
 * in progress. */
void message_stop(void);

/* Stores a sentence from Java, the diagnosis, which the next messages contain. Each byte that is not printable ASCII
 * becomes a question mark. */
void message_set_sentence(const char *sentence, uint32_t length);

/* Returns whether the file is taken. */
bool message_is_on(void);

/* Writes the time, a clause about the present memory, and Java's sentence with its age. Only the recorder's thread
 * calls this. */
void message_write(const char *clause);

/* Empties the file if it holds a message. */
void message_clear(void);

/* Fills all fields, as mallometer_message() does. */
void message_describe(struct mallometer_message_status *out);

/* Forgets the file in the child of a fork. */
void message_forked(void);

#endif
