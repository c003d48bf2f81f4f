/*
 * Which symbols leave the library. -fvisibility=hidden hides definitions only: a variable that is declared extern
 * needs HIDDEN to be reached without the global offset table, one instruction less on each use.
 */
#ifndef MALLOMETER_PLATFORM_VISIBILITY_H
#define MALLOMETER_PLATFORM_VISIBILITY_H

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

#endif
