/* Parses the XML that malloc_info() writes, piece by piece. See malloc_info.h. */
#include "allocator/malloc_info.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
/* The bytes of a free chunk that a trim keeps: 48 for the chunk's two sizes and four links, and on average one page
 * at its edges. */
#define KEPT_OF_A_CHUNK (48u + PAGE - 1)

static int is_element(const struct malloc_info *info, const char *name) {
  return strncmp(info->element, name, strlen(name)) == 0;
}

static uint64_t number(const struct malloc_info *info, const char *name) {
  const char *found = strstr(info->element, name);
  return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

static uint64_t difference_or_zero(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

/* Reads a class of free chunks. If the upper limit of the class (`to`) is odd, glibc has added up size words with
 * the flag in their lowest bit. The totals of the class and of its arena are then too high by 1 byte for each chunk. */
static void read_bin(struct malloc_info *info) {
  uint64_t total = number(info, " total=\""), count = number(info, " count=\""), to = number(info, " to=\"");
  uint64_t flags = (to & 1) * count;
  total = difference_or_zero(total, flags);
  info->flags += flags;
  info->in_bins += total;
  if (to > KEPT_OF_A_CHUNK) {
    info->current.releasable_bytes += difference_or_zero(total, count * KEPT_OF_A_CHUNK) / PAGE * PAGE;
  }
}

static void finish_arena(struct malloc_info *info) {
  struct mallometer_arena *arena = &info->current;
  arena->retained_bytes = difference_or_zero(arena->retained_bytes, info->flags);
  arena->top_bytes = difference_or_zero(arena->retained_bytes, info->in_bins);
  /* A trim gives back the end of the main heap only. */
  if (arena->number == 0) arena->releasable_bytes += arena->top_bytes / PAGE * PAGE;
  if (info->arenas < info->capacity) info->rows[info->arenas] = *arena;
  info->arenas++;
  info->sum.system_bytes += arena->system_bytes;
  info->sum.retained_bytes += arena->retained_bytes;
  info->sum.releasable_bytes += arena->releasable_bytes;
  info->inside = 0;
}

static void read_element(struct malloc_info *info) {
  info->element[info->length] = '\0';
  if (is_element(info, "heap ")) {
    info->current = (struct mallometer_arena){.number = number(info, " nr=\"")};
    info->in_bins = info->flags = 0;
    info->inside = 1;
  } else if (!info->inside) {
    if (is_element(info, "total type=\"mmap\"")) info->mapped_bytes = number(info, " size=\"");
  } else if (is_element(info, "/heap")) {
    finish_arena(info);
  } else if (is_element(info, "size ") || is_element(info, "unsorted ")) {
    read_bin(info);
  } else if (is_element(info, "total type=\"fast\"") || is_element(info, "total type=\"rest\"")) {
    info->current.retained_bytes += number(info, " size=\"");
  } else if (is_element(info, "system type=\"current\"")) {
    info->current.system_bytes = number(info, " size=\"");
  }
}

void malloc_info_feed(struct malloc_info *info, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '<') {
      info->in_element = 1;
      info->length = 0;
    } else if (text[i] == '>' && info->in_element) {
      info->in_element = 0;
      read_element(info);
    } else if (info->in_element && info->length < sizeof info->element - 1) {
      info->element[info->length++] = text[i];
    }
  }
}
