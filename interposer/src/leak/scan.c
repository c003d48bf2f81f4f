/* Reads the accessed bits of all slots (pages of a single object, slots.h) in one pass. Pages whose accesses are
 * known (canaries) show whether a reading is valid. See scan.h. */
#include "leak/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "leak/slots.h"
#include "platform/memory.h"
#include "platform/page_range.h"
#include "platform/page_use.h"

/* The page number of the first canary (a page whose accesses are known). pages_mark() gives odd and even canaries
 * different advice (madvise), to keep each in a mapping of its own. */
#define FIRST_CANARY 1u
enum { CANARIES = 8, IDLE_CANARIES = 2, MOST_TRIALS = 3 };
_Static_assert(FIRST_CANARY + CANARIES + IDLE_CANARIES < PAGES_BEFORE_SLOTS,
               "a page is left between the canaries and the slots");

static enum mallometer_leaks_method clear_by;
static uint8_t seen[SLOTS];
static uint8_t canaries_seen[CANARIES + IDLE_CANARIES];
static bool cold_failed;
static char why[160];

/* ---- Canaries and slots -------------------------------------------------------------------------------- */

static char *canary(uint32_t number) { return slots_pages_before() + (FIRST_CANARY + number) * memory_page_bytes(); }

/* Records what smaps reports about a mapping in a slot. A slot that consists of several mappings counts as accessed
 * if any of them was accessed. It counts as unmapped only if its first mapping is missing. */
static void note_slot(uintptr_t begin, uint8_t what) {
  uint32_t slot = slot_number((const void *)begin);
  bool is_first = slot_address(slot) == begin;
  if (is_first || (seen[slot] == SLOT_IDLE && what == SLOT_TOUCHED)) seen[slot] = what;
}

static bool note(uintptr_t begin, bool used) {
  uint8_t what = used ? SLOT_TOUCHED : SLOT_IDLE;
  if (begin >= slots_begin + slots_bytes) return false;
  if (is_in_slots((const void *)begin)) note_slot(begin, what);
  uintptr_t page = (begin - (uintptr_t)canary(0)) / memory_page_bytes();
  if (page < CANARIES + IDLE_CANARIES) canaries_seen[page] = what;
  return true;
}

bool scan_read(void) {
  memset(seen, SLOT_MISSING, sizeof seen);
  memset(canaries_seen, SLOT_MISSING, sizeof canaries_seen);
  return page_use_read(note);
}

enum slot_seen scan_seen(uint32_t slot) { return (enum slot_seen)seen[slot]; }

bool scan_is_valid(void) {
  for (uint32_t i = 0; i < CANARIES; i++) {
    if (canaries_seen[i] != SLOT_TOUCHED) return false;
  }
  return !cold_failed;
}

/* ---- Cooling: clearing the accessed bits --------------------------------------------------------------- */

static void touch(uint32_t number) {
  volatile char *page = canary(number);
  if (number % 4 < 2) {
    page[number] = (char)number;
  } else {
    (void)page[number];
  }
}

void scan_cool(bool all) {
  cold_failed = false;
  if (clear_by == MALLOMETER_LEAKS_BY_CLEAR_REFS) {
    if (!page_use_clear_all()) cold_failed = true;
  } else {
    for (uint32_t i = 0; i < CANARIES + IDLE_CANARIES; i++) {
      if (!page_use_clear(canary(i), memory_page_bytes())) cold_failed = true;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
      if (seen[i] != SLOT_TOUCHED && !(all && seen[i] == SLOT_IDLE)) continue;
      if (!page_use_clear((char *)slot_address(i), slot_opened(i))) seen[i] = SLOT_HOT;
    }
  }
  for (uint32_t i = 0; i < CANARIES; i++) touch(i);
}

/* ---- A test of the accessed bits ----------------------------------------------------------------------- */

static bool prepare_canaries(void) {
  char *first = canary(0);
  if (!pages_open((uintptr_t)first, (CANARIES + IDLE_CANARIES) * memory_page_bytes())) return false;
  for (uint32_t i = 1; i < CANARIES + IDLE_CANARIES; i += 2) {
    pages_mark((uintptr_t)canary(i), memory_page_bytes(), PAGES_ODD);
  }
  return true;
}

static bool idle_canaries_read_as_idle(void) {
  for (uint32_t i = CANARIES; i < CANARIES + IDLE_CANARIES; i++) {
    if (canaries_seen[i] != SLOT_IDLE) return false;
  }
  return true;
}

static const char *failed(const char *begin, const char *what, const char *end) {
  snprintf(why, sizeof why, "%s%s%s (error %d)", begin, what, end, errno);
  return why;
}

static const char *cannot_read(void) { return failed("", page_use_read_name(), " cannot be read"); }

static const char *cannot_clear(void) {
  bool all = clear_by == MALLOMETER_LEAKS_BY_CLEAR_REFS;
  return all ? failed("accessed bits cannot be cleared: ", page_use_clear_all_name(), "")
             : failed("accessed bits cannot be cleared: ", page_use_clear_name(), " fails");
}

/* Gives the canaries (pages whose accesses are known) new memory, and clears their accessed bits at once. At first
 * Linux keeps a new page in a batch of the processor that touched it; only that processor can clear the page's bit
 * (platform/page_use.c). A later call may run on another processor. */
static void renew_canaries(void) {
  for (uint32_t i = 0; i < CANARIES + IDLE_CANARIES; i++) {
    pages_clear((uintptr_t)canary(i), memory_page_bytes());
    memset(canary(i), 1, memory_page_bytes());
    page_use_clear(canary(i), memory_page_bytes());
  }
}

static const char *try_scan(void) {
  renew_canaries();
  if (!scan_read()) return cannot_read();
  errno = 0;
  scan_cool(false);
  if (cold_failed) return cannot_clear();
  if (!scan_read()) return cannot_read();
  if (!scan_is_valid()) return "the kernel does not report a page that was accessed as accessed";
  return idle_canaries_read_as_idle() ? NULL : "the kernel reports a page that was not accessed as accessed";
}

const char *scan_start(enum mallometer_leaks_method method) {
  clear_by = method;
  if (!prepare_canaries()) return failed("the protection of pages cannot be changed", "", "");
  const char *cannot = NULL;
  for (unsigned tried = 0; tried < MOST_TRIALS; tried++) {
    cannot = try_scan();
    if (!cannot) break;
  }
  return cannot;
}
