/*
 * Tests the parser of glibc's malloc_info() with a text from glibc 2.36, as a whole, in pieces of each size, and
 * truncated at each place. The expected values come from mallinfo2(), called at the same moment, or were computed by
 * hand.
 */
#include "allocator/malloc_info.h"

#include "check.h"

static const char captured[] =
    "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n"
    "  <size from=\"17\" to=\"32\" total=\"96\" count=\"3\"/>\n"
    "  <size from=\"49\" to=\"49\" total=\"24157\" count=\"493\"/>\n"
    "  <size from=\"609\" to=\"609\" total=\"300237\" count=\"493\"/>\n"
    "  <size from=\"20017\" to=\"20017\" total=\"9988483\" count=\"499\"/>\n"
    "  <unsorted from=\"15905\" to=\"15905\" total=\"15905\" count=\"1\"/>\n"
    "</sizes>\n<total type=\"fast\" count=\"3\" size=\"96\"/>\n"
    "<total type=\"rest\" count=\"1487\" size=\"10336830\"/>\n"
    "<system type=\"current\" size=\"20680704\"/>\n<system type=\"max\" size=\"20680704\"/>\n"
    "<aspace type=\"total\" size=\"20680704\"/>\n<aspace type=\"mprotect\" size=\"20680704\"/>\n</heap>\n"
    "<heap nr=\"1\">\n<sizes>\n</sizes>\n<total type=\"fast\" count=\"0\" size=\"0\"/>\n"
    "<total type=\"rest\" count=\"1\" size=\"131072\"/>\n"
    "<system type=\"current\" size=\"135168\"/>\n<system type=\"max\" size=\"135168\"/>\n"
    "<aspace type=\"total\" size=\"135168\"/>\n<aspace type=\"mprotect\" size=\"135168\"/>\n"
    "<aspace type=\"subheaps\" size=\"1\"/>\n</heap>\n"
    "<total type=\"fast\" count=\"3\" size=\"96\"/>\n<total type=\"rest\" count=\"1488\" size=\"10467902\"/>\n"
    "<total type=\"mmap\" count=\"1\" size=\"1052672\"/>\n<system type=\"current\" size=\"20815872\"/>\n"
    "<system type=\"max\" size=\"20815872\"/>\n<aspace type=\"total\" size=\"20815872\"/>\n</malloc>\n";

static void is_understood(const struct malloc_info *info, const struct mallometer_arena *rows) {
  CHECK_EQUAL(info->arenas, 2);
  CHECK_EQUAL(info->mapped_bytes, 1052672);
  CHECK_EQUAL(rows[0].number, 0);
  CHECK_EQUAL(rows[0].system_bytes, 20680704);
  /* mallinfo2's fordblks (10,335,344), and three chunks in fast bins, which were added to the text by hand */
  CHECK_EQUAL(rows[0].retained_bytes, 10335344 + 96);
  CHECK_EQUAL(rows[0].top_bytes, 8048); /* mallinfo2's keepcost */
  /* A trim is assumed to keep 4,143 bytes of each free chunk. It gives back 499 x (20,016 - 4,143) bytes rounded
   * down to whole pages, 15,904 - 4,143 bytes likewise, and one page of the top. */
  CHECK_EQUAL(rows[0].releasable_bytes, 1933 * 4096 + 2 * 4096 + 4096);
  CHECK_EQUAL(rows[1].number, 1);
  CHECK_EQUAL(rows[1].retained_bytes, 131072);
  CHECK_EQUAL(rows[1].top_bytes, 131072);
  CHECK_EQUAL(rows[1].releasable_bytes, 0);
  CHECK_EQUAL(info->sum.system_bytes, 20680704 + 135168);
  CHECK_EQUAL(info->sum.retained_bytes, rows[0].retained_bytes + 131072);
  CHECK_EQUAL(info->sum.releasable_bytes, rows[0].releasable_bytes);
}

int main(void) {
  const size_t length = sizeof captured - 1;
  for (size_t piece = 1; piece <= length; piece++) {
    struct mallometer_arena rows[2];
    struct malloc_info info = {.rows = rows, .capacity = 2};
    for (size_t at = 0; at < length; at += piece) {
      malloc_info_feed(&info, captured + at, at + piece < length ? piece : length - at);
    }
    is_understood(&info, rows);
  }

  /* The array has room for one row, so the parser must not write more. */
  for (size_t end = 0; end < length; end++) {
    struct mallometer_arena row;
    struct malloc_info info = {.rows = &row, .capacity = 1};
    malloc_info_feed(&info, captured, end);
    CHECK(info.arenas <= 2);
    CHECK(info.sum.retained_bytes <= 10335344 + 96 + 131072);
  }

  struct malloc_info odd = {0};
  const char open[] = "<heap nr=\"-\"><size from=\"", close[] = "></heap><<<>></heap></heap><heap>";
  malloc_info_feed(&odd, open, sizeof open - 1);
  for (int i = 0; i < 1000; i++) malloc_info_feed(&odd, "99999999999999999999", 20);
  malloc_info_feed(&odd, close, sizeof close - 1);
  CHECK_EQUAL(odd.arenas, 1);
  CHECK_EQUAL(odd.sum.retained_bytes, 0);
  return 0;
}
