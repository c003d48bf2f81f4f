/*
 * Attaching: counting in a running process whose malloc is not this library's.
 *
 * An attach changes the words of data through which the program calls malloc (hooks/redirection.h). Counting is
 * switched on before the first word is changed, and off after the last word was restored.
 */
#ifndef MALLOMETER_CONTROL_ATTACHMENT_H
#define MALLOMETER_CONTROL_ATTACHMENT_H

#include "mallometer.h"

/* Do what mallometer_attach(), mallometer_attach_check() and mallometer_detach() do. May change errno. */
int attachment_begin(void);
int attachment_check(void);
int attachment_end(void);

/* Fills in whether the library is preloaded or attached. */
void attachment_describe(struct mallometer_report *report);

#endif
