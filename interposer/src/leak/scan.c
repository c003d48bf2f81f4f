/* See scan.h. */
#include "leak/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "leak/slots.h"

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

#define PAGE ((size_t)4096)
/* Behind the first page; pages of odd number are told apart from the others as slots are. */
#define FIRST_CANARY 1u
enum { CANARIES = 8, IDLE_CANARIES = 2, MOST_TRIALS = 3 };
_Static_assert(FIRST_CANARY + CANARIES + IDLE_CANARIES < PAGES_BEFORE_SLOTS, "a page is left between them and slots");

static enum mallometer_leaks_method clear_by;
static uint8_t seen[SLOTS];
static uint8_t canaries_seen[CANARIES + IDLE_CANARIES];
static bool cold_failed;
static char why[160];

/* ---- Reading smaps ------------------------------------------------------------------------------------- */

static bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

static uintptr_t hexadecimal(const char *text) {
  uintptr_t number = 0;
  for (; is_hexadecimal(*text); text++)
    number = number * 16 + (uintptr_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
  return number;
}

static uint64_t decimal(const char *text) {
  uint64_t number = 0;
  while (*text == ' ') text++;
  for (; *text >= '0' && *text <= '9'; text++) number = number * 10 + (uint64_t)(*text - '0');
  return number;
}

/* Fields begin with a capital letter, mappings with their address. */
static bool take_line(struct smaps_reader *reader) {
  static const char field[] = "Referenced:";
  reader->line[reader->length < sizeof reader->line ? reader->length : sizeof reader->line - 1] = '\0';
  reader->length = 0;
  if (is_hexadecimal(reader->line[0])) {
    reader->now.begin = hexadecimal(reader->line);
    return true;
  }
  if (strncmp(reader->line, field, sizeof field - 1) != 0) return true;
  reader->now.referenced_kib = decimal(reader->line + sizeof field - 1);
  return reader->mapping(&reader->now);
}

bool smaps_feed(struct smaps_reader *reader, const char *text, size_t length) {
  const char *end = text + length;
  while (text < end) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    size_t piece = (size_t)((newline ? newline : end) - text);
    size_t room = sizeof reader->line - 1 - reader->length, kept = piece < room ? piece : room;
    memcpy(reader->line + reader->length, text, kept);
    reader->length += kept;
    if (!newline) return true;
    if (!take_line(reader)) return false;
    text = newline + 1;
  }
  return true;
}

/* ---- Canaries and slots -------------------------------------------------------------------------------- */

static char *canary(uint32_t number) { return slots_pages_before() + (FIRST_CANARY + number) * PAGE; }

/* A slot may be several mappings, as where the program has locked a part of it; the first is there unless it is gone.
 */
static void note_slot(uintptr_t begin, uint8_t what) {
  uint32_t slot = slot_number((const void *)begin);
  bool is_first = slot_address(slot) == begin;
  if (is_first || (seen[slot] == SLOT_IDLE && what == SLOT_TOUCHED)) seen[slot] = what;
}

static bool note(const struct smaps_mapping *mapping) {
  uint8_t what = mapping->referenced_kib > 0 ? SLOT_TOUCHED : SLOT_IDLE;
  if (mapping->begin >= slots_begin + slots_bytes) return false;
  if (is_in_slots((const void *)mapping->begin)) note_slot(mapping->begin, what);
  uintptr_t page = (mapping->begin - (uintptr_t)canary(0)) / PAGE;
  if (page < CANARIES + IDLE_CANARIES) canaries_seen[page] = what;
  return true;
}

bool scan_read(void) {
  static char text[16384];
  struct smaps_reader reader = {.mapping = note};
  memset(seen, SLOT_MISSING, sizeof seen);
  memset(canaries_seen, SLOT_MISSING, sizeof canaries_seen);
  int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t length;
  do {
    length = read(file, text, sizeof text);
  } while (length > 0 && smaps_feed(&reader, text, (size_t)length));
  int error = errno;
  if (length >= 0 || error != EBADF) close(file);
  errno = error;
  return length >= 0;
}

enum slot_seen scan_seen(uint32_t slot) { return (enum slot_seen)seen[slot]; }

bool scan_is_valid(void) {
  for (uint32_t i = 0; i < CANARIES; i++) {
    if (canaries_seen[i] != SLOT_TOUCHED) return false;
  }
  return !cold_failed;
}

/* ---- Cooling ------------------------------------------------------------------------------------------- */

/*
 * Linux also passes over a page which the processor that first touched it still keeps in a batch, on the way to the
 * list of pages; that may last while that processor touches no 31 new pages. It then reads as touched once more, and is
 * cooled again. The call empties the batch of the processor it runs on.
 *
 * ENOMEM says that glibc has unmapped some of a slot's pages; the others are cold all the same. Pages that the program
 * has locked keep their accessed bits.
 */
static bool becomes_cold(char *begin, size_t bytes) { return madvise(begin, bytes, MADV_COLD) == 0 || errno == ENOMEM; }

/*
 * Processors set the bit when they look a page up, which they need not do while they remember it. MADV_COLD makes them
 * forget the page, clear_refs does not. To take more than 33 pages away makes Linux forget all.
 */
static void forget_pages(void) {
  void *pages = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pages == MAP_FAILED || munmap(pages, 64 * PAGE) != 0) cold_failed = true;
}

static void clear_all(void) {
  int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, "1", 1) != 1) cold_failed = true;
  if (file >= 0) close(file);
  forget_pages();
}

static void touch(uint32_t number) {
  volatile char *page = canary(number);
  if (number % 4 < 2) {
    page[number] = (char)number;
  } else {
    (void)page[number];
  }
}

void scan_cool(void) {
  cold_failed = false;
  if (clear_by == MALLOMETER_LEAKS_BY_CLEAR_REFS) {
    clear_all();
  } else {
    for (uint32_t i = 0; i < CANARIES + IDLE_CANARIES; i++) {
      if (!becomes_cold(canary(i), PAGE)) cold_failed = true;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
      if (seen[i] != SLOT_TOUCHED) continue;
      if (!becomes_cold((char *)slot_address(i), slot_opened(i))) seen[i] = SLOT_HOT;
    }
  }
  for (uint32_t i = 0; i < CANARIES; i++) touch(i);
}

/* ---- Trying out ---------------------------------------------------------------------------------------- */

static bool prepare_canaries(void) {
  char *first = canary(0);
  if (mprotect(first, (CANARIES + IDLE_CANARIES) * PAGE, PROT_READ | PROT_WRITE) != 0) return false;
  for (uint32_t i = 1; i < CANARIES + IDLE_CANARIES; i += 2) madvise(canary(i), PAGE, MADV_RANDOM);
  return true;
}

static bool idle_canaries_read_as_idle(void) {
  for (uint32_t i = CANARIES; i < CANARIES + IDLE_CANARIES; i++) {
    if (canaries_seen[i] != SLOT_IDLE) return false;
  }
  return true;
}

static const char *failed(const char *what) {
  snprintf(why, sizeof why, "%s (error %d)", what, errno);
  return why;
}

/* New pages, which are cooled at once, so that they leave this processor's batch before the thread leaves it. */
static void renew_canaries(void) {
  for (uint32_t i = 0; i < CANARIES + IDLE_CANARIES; i++) {
    madvise(canary(i), PAGE, MADV_DONTNEED);
    memset(canary(i), 1, PAGE);
    madvise(canary(i), PAGE, MADV_COLD);
  }
}

static const char *try_scan(enum mallometer_leaks_method method) {
  renew_canaries();
  if (!scan_read()) return failed("/proc/self/smaps cannot be read");
  errno = 0;
  scan_cool();
  if (cold_failed) {
    return failed(method == MALLOMETER_LEAKS_BY_COLD ? "accessed bits cannot be cleared: madvise(MADV_COLD) fails"
                                                     : "accessed bits cannot be cleared: /proc/self/clear_refs");
  }
  if (!scan_read()) return failed("/proc/self/smaps cannot be read");
  if (!scan_is_valid()) return "a page that is touched does not read as touched";
  return idle_canaries_read_as_idle() ? NULL : "a page that is cold reads as touched";
}

const char *scan_start(enum mallometer_leaks_method method) {
  clear_by = method;
  if (!prepare_canaries()) return failed("pages cannot be made accessible");
  const char *cannot = NULL;
  for (unsigned tried = 0; tried < MOST_TRIALS; tried++) {
    cannot = try_scan(method);
    if (!cannot) break;
  }
  return cannot;
}
