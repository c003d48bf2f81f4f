/* The visibility of symbols outside of the library. -fvisibility=hidden applies to definitions only. Declare an
 * extern variable HIDDEN, so that each access saves the instruction that reads the global offset table. */
#ifndef MALLOMETER_PLATFORM_VISIBILITY_H
#define MALLOMETER_PLATFORM_VISIBILITY_H

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

#endif
