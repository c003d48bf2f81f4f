/* See figures.h. */
#include "allocator/figures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "allocator/next.h"
#include "platform/glibc_versions.h"

static enum mallometer_allocator_kind kind;

enum mallometer_allocator_kind allocator_kind(void) { return kind; }

/* A function of that name in the object that serves malloc. */
static bool find(void *function, const char *name) {
  void *address = dlsym(RTLD_DEFAULT, name);
  if (address && !next_allocator_contains(address)) address = NULL;
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

/* ---- glibc -------------------------------------------------------------------------------------------- */

/* glibc 2.33's struct mallinfo2. Its predecessor has ints, which overflow at 2 GiB. */
struct glibc_figures {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

static struct glibc_figures (*glibc_mallinfo2)(void);
static int (*glibc_malloc_info)(int options, FILE *stream);
static int (*glibc_malloc_trim)(size_t pad);

/* Where malloc_info's XML goes: nothing is kept but what is counted while it passes. */
struct arena_counter {
  uint64_t arenas;
  size_t matched;
};

/* Counts "<heap nr" as the text streams by, in pieces of any size. */
static ssize_t count_arenas(void *cookie, const char *text, size_t length) {
  static const char wanted[] = "<heap nr";
  struct arena_counter *counter = cookie;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == wanted[counter->matched]) {
      counter->matched++;
    } else {
      counter->matched = text[i] == wanted[0];
    }
    if (counter->matched == sizeof wanted - 1) {
      counter->arenas++;
      counter->matched = 0;
    }
  }
  return (ssize_t)length;
}

static uint64_t glibc_arenas(void) {
  struct arena_counter counter = {0};
  FILE *stream = fopencookie(&counter, "w", (cookie_io_functions_t){.write = count_arenas});
  if (!stream) return MALLOMETER_UNKNOWN;
  int failed = glibc_malloc_info(0, stream);
  fclose(stream);
  return failed ? MALLOMETER_UNKNOWN : counter.arenas;
}

static int glibc_read(struct mallometer_allocator_state *out) {
  if (glibc_malloc_info) out->arenas = glibc_arenas();
  if (!glibc_mallinfo2) return 0;
  struct glibc_figures f = glibc_mallinfo2();
  out->system_bytes = f.arena + f.hblkhd;
  out->used_bytes = f.uordblks + f.hblkhd;
  out->retained_bytes = f.fordblks;
  out->mapped_bytes = f.hblkhd;
  out->top_bytes = f.keepcost;
  return 0;
}

/* ---- jemalloc ----------------------------------------------------------------------------------------- */

static int (*jemalloc_mallctl)(const char *name, void *old, size_t *old_length, void *new, size_t new_length);

static uint64_t jemalloc_figure(const char *name) {
  size_t value = 0, length = sizeof value;
  return jemalloc_mallctl(name, &value, &length, NULL, 0) == 0 ? value : MALLOMETER_UNKNOWN;
}

static int jemalloc_read(struct mallometer_allocator_state *out) {
  uint64_t epoch = 1;
  size_t length = sizeof epoch;
  /* The statistics are those of the last time the epoch was advanced. */
  if (jemalloc_mallctl("epoch", &epoch, &length, &epoch, length) != 0) return -ENOTSUP;
  unsigned arenas = 0;
  length = sizeof arenas;
  if (jemalloc_mallctl("arenas.narenas", &arenas, &length, NULL, 0) == 0) out->arenas = arenas;
  out->system_bytes = jemalloc_figure("stats.mapped");
  out->used_bytes = jemalloc_figure("stats.allocated");
  out->resident_bytes = jemalloc_figure("stats.resident");
  if (out->system_bytes != MALLOMETER_UNKNOWN && out->used_bytes != MALLOMETER_UNKNOWN) {
    out->retained_bytes = out->system_bytes > out->used_bytes ? out->system_bytes - out->used_bytes : 0;
  }
  return 0;
}

/* ---- tcmalloc ----------------------------------------------------------------------------------------- */

static int (*tcmalloc_property)(const char *name, size_t *value);
static void (*tcmalloc_release)(void);

static uint64_t tcmalloc_figure(const char *name) {
  size_t value = 0;
  return tcmalloc_property(name, &value) ? value : MALLOMETER_UNKNOWN;
}

static int tcmalloc_read(struct mallometer_allocator_state *out) {
  uint64_t heap = tcmalloc_figure("generic.heap_size");
  uint64_t unmapped = tcmalloc_figure("tcmalloc.pageheap_unmapped_bytes");
  out->used_bytes = tcmalloc_figure("generic.current_allocated_bytes");
  if (heap == MALLOMETER_UNKNOWN || unmapped == MALLOMETER_UNKNOWN) return 0;
  out->system_bytes = heap - unmapped;
  if (out->used_bytes != MALLOMETER_UNKNOWN && out->system_bytes > out->used_bytes) {
    out->retained_bytes = out->system_bytes - out->used_bytes;
  }
  return 0;
}

/* ---- mimalloc ----------------------------------------------------------------------------------------- */

static void (*mimalloc_process_info)(size_t *elapsed, size_t *user, size_t *system, size_t *rss, size_t *peak_rss,
                                     size_t *commit, size_t *peak_commit, size_t *faults);
static void (*mimalloc_collect)(bool force);

static int mimalloc_read(struct mallometer_allocator_state *out) {
  size_t elapsed, user, system, rss, peak_rss, commit = 0, peak_commit, faults;
  mimalloc_process_info(&elapsed, &user, &system, &rss, &peak_rss, &commit, &peak_commit, &faults);
  out->system_bytes = commit;
  return 0;
}

/* ---- Whichever it is ---------------------------------------------------------------------------------- */

void allocator_find(void) {
  if (next_allocator_is_glibc()) {
    kind = MALLOMETER_ALLOCATOR_GLIBC;
    find(&glibc_mallinfo2, "mallinfo2");
    find(&glibc_malloc_info, "malloc_info");
    find(&glibc_malloc_trim, "malloc_trim");
  } else if (find(&jemalloc_mallctl, "mallctl")) {
    kind = MALLOMETER_ALLOCATOR_JEMALLOC;
  } else if (find(&tcmalloc_property, "MallocExtension_GetNumericProperty") &&
             find(&tcmalloc_release, "MallocExtension_ReleaseFreeMemory")) {
    kind = MALLOMETER_ALLOCATOR_TCMALLOC;
  } else if (find(&mimalloc_process_info, "mi_process_info") && find(&mimalloc_collect, "mi_collect")) {
    kind = MALLOMETER_ALLOCATOR_MIMALLOC;
  }
}

int allocator_figures(struct mallometer_allocator_state *out) {
  out->kind = kind;
  out->arenas = out->system_bytes = out->used_bytes = out->retained_bytes = MALLOMETER_UNKNOWN;
  out->mapped_bytes = out->top_bytes = out->resident_bytes = MALLOMETER_UNKNOWN;
  switch (kind) {
    case MALLOMETER_ALLOCATOR_GLIBC:
      return glibc_read(out);
    case MALLOMETER_ALLOCATOR_JEMALLOC:
      return jemalloc_read(out);
    case MALLOMETER_ALLOCATOR_TCMALLOC:
      return tcmalloc_read(out);
    case MALLOMETER_ALLOCATOR_MIMALLOC:
      return mimalloc_read(out);
    default:
      return -ENOTSUP;
  }
}

int allocator_trim(void) {
  switch (kind) {
    case MALLOMETER_ALLOCATOR_GLIBC:
      if (!glibc_malloc_trim) return -ENOTSUP;
      glibc_malloc_trim(0);
      return 0;
    case MALLOMETER_ALLOCATOR_JEMALLOC:
      /* 4096 is jemalloc's number for "all arenas". */
      return jemalloc_mallctl("arena.4096.purge", NULL, NULL, NULL, 0) == 0 ? 0 : -ENOTSUP;
    case MALLOMETER_ALLOCATOR_TCMALLOC:
      tcmalloc_release();
      return 0;
    case MALLOMETER_ALLOCATOR_MIMALLOC:
      mimalloc_collect(true);
      return 0;
    default:
      return -ENOTSUP;
  }
}
