/* Macros that hide or export the library's symbols. -fvisibility=hidden hides definitions only. Declare extern
 * variables HIDDEN, too: otherwise each access first reads the global offset table. */
#ifndef MALLOMETER_PLATFORM_VISIBILITY_H
#define MALLOMETER_PLATFORM_VISIBILITY_H

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

#endif
