/* A library with mallometer's functions but another version. The library under test must not request a report from
 * it, because its structs may differ. */
#include <stdlib.h>

#include "mallometer.h"

uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION + 1; }

int mallometer_self(struct mallometer_report *self) {
  (void)self;
  abort();
}
