/* What the program's executable says of itself, without the loader and its lock. */
#ifndef MALLOMETER_PLATFORM_EXECUTABLE_H
#define MALLOMETER_PLATFORM_EXECUTABLE_H

#include <stdbool.h>

/* Whether it refers to a function, weakly or not, whose name `matches` accepts. */
bool executable_refers_to(bool (*matches)(const char *name));

#endif
