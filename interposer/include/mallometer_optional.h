/*
 * Lets a program use mallometer if it is loaded, and run without it otherwise.
 *
 * Include this header before mallometer.h, or instead of it, and link against nothing. The functions are weak
 * references, which the preloaded library defines. Call mallometer_available() before any of them.
 */
#ifndef MALLOMETER_OPTIONAL_H
#define MALLOMETER_OPTIONAL_H

#ifndef MALLOMETER_API
#define MALLOMETER_API __attribute__((weak))
#endif
#include "mallometer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the function weak even if mallometer.h was included first. */
uint32_t mallometer_abi_version(void) __attribute__((weak));

/* Returns whether the library is loaded and has the version that this program was compiled for. */
static inline int mallometer_available(void) {
  return mallometer_abi_version != 0 && mallometer_abi_version() == MALLOMETER_ABI_VERSION;
}

#ifdef __cplusplus
}
#endif

#endif
