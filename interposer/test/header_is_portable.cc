/* The public headers compile alone, as C++17 and (header_is_portable.c) as C99, with all warnings. */
#include "mallometer.h"
#include "mallometer_optional.h"

int main(void) {
  struct mallometer_counters s = {};
  return (int)mallometer_allocations(&s) + (mallometer_available() && sizeof s != 256);
}
