/*
 * Attaching: counting in a running process whose malloc is not ours. This part checks whether that is possible, and in
 * which order counting begins and ends.
 *
 * The counting route is open before the first word leads to it, and closes after the last one was put back.
 */
#ifndef MALLOMETER_CONTROL_ATTACHMENT_H
#define MALLOMETER_CONTROL_ATTACHMENT_H

#include "mallometer.h"

/* Do what mallometer_attach(), mallometer_attach_check() and mallometer_detach() do. May change errno. */
int attachment_begin(void);
int attachment_check(void);
int attachment_end(void);

/* Fills the fields that say whether the library is preloaded or attached. */
void attachment_describe(struct mallometer_report *report);

#endif
