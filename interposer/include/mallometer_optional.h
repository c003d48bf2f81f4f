/*
 * Use mallometer if it is there, run without it if it is not.
 *
 * Include this before mallometer.h, or instead of it, and link against nothing: the functions are weak references that
 * the preloaded library satisfies. Ask mallometer_available() once before calling any of them.
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

/* Weak wherever the other header came first. */
uint32_t mallometer_abi_version(void) __attribute__((weak));

/* Whether the library is loaded and speaks the version that this program was compiled for. */
static inline int mallometer_available(void) {
  return mallometer_abi_version != 0 && mallometer_abi_version() == MALLOMETER_ABI_VERSION;
}

#ifdef __cplusplus
}
#endif

#endif /* MALLOMETER_OPTIONAL_H */
