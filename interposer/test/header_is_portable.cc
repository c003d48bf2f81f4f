/* The public headers must compile without warnings as C++17. */
#include "mallometer.h"
#include "mallometer_optional.h"

int main(void) {
  struct mallometer_counters s = {};
  return (int)mallometer_allocations(&s) + (mallometer_available() && sizeof s != 256);
}
