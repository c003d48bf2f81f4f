/* Parses /proc/self/smaps, and clears accessed bits by MADV_COLD or clear_refs. See page_use.h. */
#include "platform/page_use.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/kernel.h"
#include "platform/memory.h"
#include "platform/system_calls.h"

#ifndef MADV_COLD /* Kernels have MADV_COLD since 5.4. */
#define MADV_COLD 20
#endif

#define SMAPS "/proc/self/smaps"
#define CLEAR_REFS "/proc/self/clear_refs"
#define USUAL_MAPPINGS 65530u

static char piece_of_file[16384];

/* ---- Reading smaps, see proc(5) ------------------------------------------------------------------------ */

/* Reads smaps in pieces, which may cut a line anywhere. `line` stores only the beginning of a line, because no more
 * is needed. */
struct smaps_reader {
  bool (*mapping)(uintptr_t begin, bool used);
  uintptr_t begin;
  size_t length;
  char line[32];
};

static bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/* The line of a mapping begins with its address; a line with a field of the mapping begins with a capital letter. */
static bool take_line(struct smaps_reader *reader) {
  static const char field[] = "Referenced:";
  reader->line[reader->length < sizeof reader->line ? reader->length : sizeof reader->line - 1] = '\0';
  reader->length = 0;
  if (is_hexadecimal(reader->line[0])) {
    reader->begin = strtoul(reader->line, NULL, 16);
    return true;
  }
  if (strncmp(reader->line, field, sizeof field - 1) != 0) return true;
  return reader->mapping(reader->begin, strtoul(reader->line + sizeof field - 1, NULL, 10) > 0);
}

/* Returns false when no more of the file is needed. */
static bool feed(struct smaps_reader *reader, const char *text, size_t length) {
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

bool page_use_read(bool (*mapping)(uintptr_t begin, bool used)) {
  struct smaps_reader reader = {.mapping = mapping};
  int file = call_open(SMAPS, O_RDONLY);
  if (file < 0) return false;
  ssize_t length;
  do {
    length = call_read(file, piece_of_file, sizeof piece_of_file);
  } while (length > 0 && feed(&reader, piece_of_file, (size_t)length));
  int error = errno;
  if (length >= 0 || error != EBADF) call_close(file); /* EBADF: the program has closed the descriptor. */
  errno = error;
  return length >= 0;
}

const char *page_use_read_name(void) { return SMAPS; }

/* ---- Clearing ------------------------------------------------------------------------------------------ */

/*
 * Clears accessed bits. Pages that the program has locked keep their bits. ENOMEM means that some pages are unmapped;
 * the bits of the other pages are cleared.
 *
 * Linux collects up to 31 newly touched pages in a batch for each processor. A call empties the batch of its own
 * processor only. It cannot clear the bits of pages in other batches, so these pages may count as accessed in the next
 * reading, too.
 */
bool page_use_clear(void *pages, size_t bytes) { return madvise(pages, bytes, MADV_COLD) == 0 || errno == ENOMEM; }

const char *page_use_clear_name(void) { return "madvise(MADV_COLD)"; }

/*
 * Empties the TLB of this processor. While a page's entry is in the TLB, the processor does not set the page's
 * accessed bit. MADV_COLD removes the page from the TLB; clear_refs does not. Linux flushes the whole TLB when one
 * call unmaps more than 33 pages.
 */
static bool forget_pages(void) {
  size_t bytes = 64 * memory_page_bytes();
  void *pages = call_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return pages != MAP_FAILED && call_munmap(pages, bytes) == 0;
}

bool page_use_clear_all(void) {
  int file = call_open(CLEAR_REFS, O_WRONLY);
  bool cleared = file >= 0 && call_write(file, "1", 1) == 1;
  int error = errno;
  if (file >= 0) call_close(file);
  errno = error;
  return forget_pages() && cleared;
}

const char *page_use_clear_all_name(void) { return CLEAR_REFS; }

/* ---- Mappings ------------------------------------------------------------------------------------------ */

size_t mappings_count(void) {
  size_t lines = 0;
  ssize_t length;
  int file = call_open("/proc/self/maps", O_RDONLY);
  if (file < 0) return SIZE_MAX;
  while ((length = call_read(file, piece_of_file, sizeof piece_of_file)) > 0) {
    for (ssize_t i = 0; i < length; i++) lines += piece_of_file[i] == '\n';
  }
  call_close(file);
  return length < 0 ? SIZE_MAX : lines;
}

size_t mappings_most(void) {
  char text[32];
  size_t told = kernel_text("/proc/sys/vm/max_map_count", text, sizeof text);
  return told ? strtoul(text, NULL, 10) : USUAL_MAPPINGS;
}
