/* A parser of the XML that malloc_info() writes, fed piece by piece. See malloc_info.h. */
#include "allocator/malloc_info.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
/* Two links and two sizes at a free chunk's beginning stay, and on average one page at its edges. */
#define KEPT_OF_A_CHUNK (48u + PAGE - 1)

static int is(const struct malloc_info *info, const char *name) {
  return strncmp(info->element, name, strlen(name)) == 0;
}

/* The number in name="number"; 0 if there is none. */
static uint64_t number(const struct malloc_info *info, const char *name) {
  const char *found = strstr(info->element, name);
  return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

static uint64_t less(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

/*
 * Free chunks of one class. glibc adds up size words together with the flag in their lowest bit, here and in the sum
 * that follows; the odd limit of the class tells.
 */
static void read_bin(struct malloc_info *info) {
  uint64_t total = number(info, " total=\""), count = number(info, " count=\""), to = number(info, " to=\"");
  uint64_t flags = (to & 1) * count;
  total = less(total, flags);
  info->flags += flags;
  info->in_bins += total;
  if (to > KEPT_OF_A_CHUNK) {
    info->current.releasable_bytes += less(total, count * KEPT_OF_A_CHUNK) / PAGE * PAGE;
  }
}

static void finish_arena(struct malloc_info *info) {
  struct mallometer_arena *arena = &info->current;
  arena->retained_bytes = less(arena->retained_bytes, info->flags);
  arena->top_bytes = less(arena->retained_bytes, info->in_bins);
  /* Only the end of the main heap is given back; those of the others stay. */
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
  if (is(info, "heap ")) {
    info->current = (struct mallometer_arena){.number = number(info, " nr=\"")};
    info->in_bins = info->flags = 0;
    info->inside = 1;
  } else if (!info->inside) {
    if (is(info, "total type=\"mmap\"")) info->mapped_bytes = number(info, " size=\"");
  } else if (is(info, "/heap")) {
    finish_arena(info);
  } else if (is(info, "size ") || is(info, "unsorted ")) {
    read_bin(info);
  } else if (is(info, "total type=\"fast\"") || is(info, "total type=\"rest\"")) {
    info->current.retained_bytes += number(info, " size=\"");
  } else if (is(info, "system type=\"current\"")) {
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
