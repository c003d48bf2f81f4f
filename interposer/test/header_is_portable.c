/* The public headers alone must compile without warnings as C99, and in header_is_portable.cc as C++17. */
#include "mallometer.h"
#include "mallometer_optional.h"

int main(void) {
  struct mallometer_counters s = {0};
  return (int)mallometer_allocations(&s) + (mallometer_available() && sizeof s != 256);
}
