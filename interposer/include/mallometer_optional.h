/*
 * Use mallometer if it is there, run without it if it is not.
 *
 * Include this instead of mallometer.h and link against nothing: the functions are weak references that the
 * preloaded library satisfies. Ask mallometer_available() once before calling any of them.
 */
#ifndef MALLOMETER_OPTIONAL_H
#define MALLOMETER_OPTIONAL_H

#ifdef MALLOMETER_H
#error "include mallometer_optional.h instead of mallometer.h, not after it"
#endif
#define MALLOMETER_API __attribute__((weak))
#include "mallometer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the library is loaded and speaks the version that this program was compiled for. */
static inline int mallometer_available(void) {
  return mallometer_abi_version != 0 && mallometer_abi_version() == MALLOMETER_ABI_VERSION;
}

#ifdef __cplusplus
}
#endif

#endif /* MALLOMETER_OPTIONAL_H */
