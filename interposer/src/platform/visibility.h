/*
 * The visibility of symbols outside of the library. -fvisibility=hidden applies to definitions only. An extern variable
 * is declared HIDDEN, so that it is accessed without the global offset table, which saves an instruction each time.
 */
#ifndef MALLOMETER_PLATFORM_VISIBILITY_H
#define MALLOMETER_PLATFORM_VISIBILITY_H

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

#endif
