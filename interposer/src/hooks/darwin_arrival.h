/* Whether the program's calls reach the interposed functions (darwin_interposing.c). */
#ifndef MALLOMETER_HOOKS_DARWIN_ARRIVAL_H
#define MALLOMETER_HOOKS_DARWIN_ARRIVAL_H

#include <stdbool.h>

#include "platform/visibility.h"

/* True after the first call has reached an interposed function. Atomic. Defined in darwin_start.c. */
extern HIDDEN bool calls_have_arrived;

#endif
