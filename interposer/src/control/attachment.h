/*
 * Counting in a process that runs already and whose malloc is not ours: whether that is possible here, in which order
 * it begins and ends.
 *
 * The route that counts is open before the first word leads to it, and closes after the last was put back.
 */
#ifndef MALLOMETER_CONTROL_ATTACHMENT_H
#define MALLOMETER_CONTROL_ATTACHMENT_H

#include "mallometer.h"

/* As mallometer_attach(), mallometer_attach_check() and mallometer_detach(). May change errno. */
int attachment_begin(void);
int attachment_check(void);
int attachment_end(void);

/* Fills the fields about how the library came to count. */
void attachment_describe(struct mallometer_report *report);

#endif
