/* Tests the library's clocks. The coarse clock is never ahead of the exact clock. Without a vDSO, the coarse clock
 * returns the time of the latest reading of the exact clock. */
#include "platform/clock.c"

#include "check.h"

#define SECOND 1000000000u

static void expect_behind(uint64_t before, uint64_t coarse, uint64_t after) {
  CHECK(coarse <= after);
  CHECK(coarse + 10 * (uint64_t)SECOND > before);
}

static void coarse_clocks_are_behind(void) {
  uint64_t before = monotonic_ns(), coarse = coarse_monotonic_ns();
  expect_behind(before, coarse, monotonic_ns());
  before = realtime_ns(), coarse = coarse_realtime_ns();
  expect_behind(before, coarse, realtime_ns());
}

static void the_vdso_is_found(void) {
  const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
  if (!vdso) exit(77);
  CHECK(of_vdso);
  struct tables tables = tables_of(vdso);
  if (tables.hash && tables.gnu_hash) CHECK_EQUAL(symbol_count(NULL, tables.gnu_hash), tables.hash[1]);
}

static void without_it_time_is_what_somebody_saw(void) {
  of_vdso = NULL;
  uint64_t seen = monotonic_ns();
  realtime_ns();
  thread_cpu_ns();
  CHECK_EQUAL(coarse_monotonic_ns(), seen);
  expect_behind(realtime_ns(), coarse_realtime_ns(), realtime_ns());
  coarse_clock_advance(1000);
  CHECK_EQUAL(coarse_monotonic_ns(), seen + 1000);
}

int main(void) {
  clock_start();
  coarse_clocks_are_behind();
  the_vdso_is_found();
  without_it_time_is_what_somebody_saw();
  return 0;
}
