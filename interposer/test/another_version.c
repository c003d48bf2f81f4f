/* A library that looks like mallometer's with another version: it must not be asked for its report. */
#include <stdlib.h>

#include "mallometer.h"

uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION + 1; }

int mallometer_self(struct mallometer_report *self) {
  (void)self;
  abort();
}
