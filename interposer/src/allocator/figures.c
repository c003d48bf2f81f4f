/* Finds the allocator, and reads jemalloc, tcmalloc and mimalloc through their own interfaces. See figures.h. */
#include "allocator/figures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "allocator/glibc.h"
#include "allocator/next.h"

static enum mallometer_allocator_kind kind;
static uint64_t trims;

enum mallometer_allocator_kind allocator_kind(void) { return kind; }

/* ---- jemalloc ----------------------------------------------------------------------------------------- */

static int (*jemalloc_mallctl)(const char *name, void *old, size_t *old_length, void *new, size_t new_length);

static uint64_t jemalloc_figure(const char *name) {
  size_t value = 0, length = sizeof value;
  return jemalloc_mallctl(name, &value, &length, NULL, 0) == 0 ? value : MALLOMETER_UNKNOWN;
}

static int jemalloc_read(struct mallometer_allocator_state *out) {
  uint64_t epoch = 1;
  size_t length = sizeof epoch;
  /* jemalloc's statistics are those of the latest advance of its epoch. */
  if (jemalloc_mallctl("epoch", &epoch, &length, &epoch, length) != 0) return -ENOTSUP;
  unsigned arenas = 0;
  length = sizeof arenas;
  if (jemalloc_mallctl("arenas.narenas", &arenas, &length, NULL, 0) == 0) out->arenas = arenas;
  out->system_bytes = jemalloc_figure("stats.mapped");
  out->used_bytes = jemalloc_figure("stats.allocated");
  out->resident_bytes = jemalloc_figure("stats.resident");
  /* 4096 is jemalloc's number for "all arenas". Muzzy pages are resident until the kernel takes them. */
  uint64_t page = jemalloc_figure("arenas.page"), dirty = jemalloc_figure("stats.arenas.4096.pdirty");
  if (page != MALLOMETER_UNKNOWN && dirty != MALLOMETER_UNKNOWN) {
    uint64_t muzzy = jemalloc_figure("stats.arenas.4096.pmuzzy");
    out->releasable_bytes = page * (dirty + (muzzy != MALLOMETER_UNKNOWN ? muzzy : 0));
  }
  if (out->system_bytes != MALLOMETER_UNKNOWN && out->used_bytes != MALLOMETER_UNKNOWN) {
    out->retained_bytes = out->system_bytes > out->used_bytes ? out->system_bytes - out->used_bytes : 0;
  }
  return 0;
}

/* ---- tcmalloc ----------------------------------------------------------------------------------------- */

static int (*tcmalloc_property)(const char *name, size_t *value);
static void (*tcmalloc_release)(void);
static const char *(*tcmalloc_version)(int *major, int *minor, const char **patch);

static uint64_t tcmalloc_figure(const char *name) {
  size_t value = 0;
  return tcmalloc_property(name, &value) ? value : MALLOMETER_UNKNOWN;
}

static int tcmalloc_read(struct mallometer_allocator_state *out) {
  uint64_t heap = tcmalloc_figure("generic.heap_size");
  uint64_t unmapped = tcmalloc_figure("tcmalloc.pageheap_unmapped_bytes");
  out->used_bytes = tcmalloc_figure("generic.current_allocated_bytes");
  out->releasable_bytes = tcmalloc_figure("tcmalloc.pageheap_free_bytes");
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
static int (*mimalloc_version)(void);

static int mimalloc_read(struct mallometer_allocator_state *out) {
  size_t elapsed, user, system, rss, peak_rss, commit = 0, peak_commit, faults;
  mimalloc_process_info(&elapsed, &user, &system, &rss, &peak_rss, &commit, &peak_commit, &faults);
  out->system_bytes = commit;
  return 0;
}

/* ---- Functions for every allocator -------------------------------------------------------------------- */

void allocator_find(void) {
  if (glibc_serves()) {
    kind = MALLOMETER_ALLOCATOR_GLIBC;
    glibc_find();
  } else if (next_allocator_function(&jemalloc_mallctl, "mallctl")) {
    kind = MALLOMETER_ALLOCATOR_JEMALLOC;
  } else if (next_allocator_function(&tcmalloc_property, "MallocExtension_GetNumericProperty") &&
             next_allocator_function(&tcmalloc_release, "MallocExtension_ReleaseFreeMemory")) {
    kind = MALLOMETER_ALLOCATOR_TCMALLOC;
    next_allocator_function(&tcmalloc_version, "tc_version");
  } else if (next_allocator_function(&mimalloc_process_info, "mi_process_info") &&
             next_allocator_function(&mimalloc_collect, "mi_collect")) {
    kind = MALLOMETER_ALLOCATOR_MIMALLOC;
    next_allocator_function(&mimalloc_version, "mi_version");
  }
}

/* Returns the length of "5.3.0" in "5.3.0-0-g54eaed1d...", which ends with a commit. */
static int length_of_version(const char *version) { return (int)strcspn(version, "-_ "); }

void allocator_name_version(char *name, size_t capacity) {
  const char *version = NULL;
  size_t length = sizeof version;
  int number;
  switch (kind) {
    case MALLOMETER_ALLOCATOR_GLIBC:
      glibc_name(name, capacity);
      return;
    case MALLOMETER_ALLOCATOR_JEMALLOC:
      if (jemalloc_mallctl("version", (void *)&version, &length, NULL, 0) == 0 && version) {
        snprintf(name, capacity, "jemalloc %.*s", length_of_version(version), version);
      }
      return;
    case MALLOMETER_ALLOCATOR_TCMALLOC:
      if (tcmalloc_version && tcmalloc_version(NULL, NULL, NULL)) {
        const char *text = strpbrk(tcmalloc_version(NULL, NULL, NULL), "0123456789");
        if (text) snprintf(name, capacity, "tcmalloc %.*s", length_of_version(text), text);
      }
      return;
    case MALLOMETER_ALLOCATOR_MIMALLOC:
      number = mimalloc_version ? mimalloc_version() : 0;
      if (number > 0) snprintf(name, capacity, "mimalloc %d.%d.%d", number / 100, number / 10 % 10, number % 10);
      return;
    default:
      return;
  }
}

int allocator_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity) {
  out->kind = kind;
  out->rows = 0;
  out->arenas = out->system_bytes = out->used_bytes = out->retained_bytes = MALLOMETER_UNKNOWN;
  out->mapped_bytes = out->releasable_bytes = out->resident_bytes = MALLOMETER_UNKNOWN;
  out->trims = __atomic_load_n(&trims, __ATOMIC_RELAXED);
  switch (kind) {
    case MALLOMETER_ALLOCATOR_GLIBC:
      return glibc_figures(out, arenas, capacity);
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

static int trim(void) {
  switch (kind) {
    case MALLOMETER_ALLOCATOR_GLIBC:
      return glibc_trim();
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

int allocator_trim(void) {
  int result = trim();
  if (result == 0) __atomic_add_fetch(&trims, 1, __ATOMIC_RELAXED);
  return result;
}
