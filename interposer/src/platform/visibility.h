/*
 * The visibility of symbols outside of the library. -fvisibility=hidden hides definitions only: an extern variable
 * needs HIDDEN to be reached without the global offset table, which saves one instruction on each use.
 */
#ifndef MALLOMETER_PLATFORM_VISIBILITY_H
#define MALLOMETER_PLATFORM_VISIBILITY_H

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

#endif
