/* Reads the statistics of glibc's malloc, and the size words before its objects. Size words are read only if those
 * of a few objects agree with malloc_usable_size. See glibc.h. */
#include "allocator/glibc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "allocator/malloc_info.h"
#include "allocator/next.h"
#include "platform/arch.h"
#include "platform/glibc_versions.h"
#include "platform/libc.h"

bool glibc_serves(void) { return libc_is_glibc() && next_allocator_contains(address_in_libc()); }

void glibc_name(char *name, size_t capacity) { snprintf(name, capacity, "glibc %s", gnu_get_libc_version()); }

/* ---- Chunks ------------------------------------------------------------------------------------------- */

void glibc_free_unnoticed(void *object) {
  bool mapped = ((const size_t *)object)[-1] & GLIBC_IS_MAPPED;
  void *smaller = mapped ? next.realloc(object, 1) : NULL;
  next.free(smaller ? smaller : object);
}

static bool chunk_agrees(size_t request) {
  void *object = next.malloc(request);
  if (!object) return true; /* out of memory: this request is not tested */
  if (is_tagged(object)) {
    next.free(object);
    return false;
  }
  size_t usable = next.usable_size(object);
  size_t word = ((size_t *)object)[-1];
  bool singly_mapped = word & GLIBC_IS_MAPPED;
  size_t more = glibc_usable_size(object) - usable;
  bool agrees = (more == 0 || (singly_mapped && more == sizeof(size_t))) && usable >= request;
  if (agrees) {
    glibc_free_unnoticed(object);
  } else {
    next.free(object);
  }
  return agrees;
}

/* The bytes that the size word of a chunk leaves out if the chunk has a mapping of its own: none before glibc 2.43,
 * the chunk's header (16 bytes) since then. */
static size_t not_in_size;

static void find_size_of_mapped_chunks(void) {
  static size_t chunk[4] = {0, sizeof chunk | GLIBC_IS_MAPPED};
  not_in_size = next.usable_size(chunk + 2) == glibc_usable_size(chunk + 2) ? 2 * sizeof(size_t) : 0;
}

bool glibc_chunks_are_readable(void) {
  static const size_t requests[] = {0, 1, 24, 25, 100, 1000, 5000, 70000, 300000};
  if (!GLIBC_CHUNKS_ARE_KNOWN || !glibc_serves()) return false;
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    if (!chunk_agrees(requests[i])) return false;
  }
  find_size_of_mapped_chunks();
  return true;
}

void glibc_write_mapped_chunk(uintptr_t begin, size_t offset, size_t bytes) {
  size_t *object = (size_t *)(begin + offset);
  object[-2] = offset - 2 * sizeof(size_t);
  object[-1] = (bytes - (offset - 2 * sizeof(size_t)) - not_in_size) | GLIBC_IS_MAPPED;
}

size_t glibc_mapped_bytes(const void *object, size_t offset) {
  const size_t *words = object;
  bool is_mapped = words[-2] == offset - 2 * sizeof(size_t) && (words[-1] & 7) == GLIBC_IS_MAPPED;
  return is_mapped ? words[-2] + not_in_size + (words[-1] & ~(size_t)7) : 0;
}

/* ---- Figures and trimming ----------------------------------------------------------------------------- */

static int (*write_info)(int options, FILE *stream);
static int (*trim)(size_t pad);

/*
 * Has the layout of struct mallinfo2 (glibc 2.33 and later). The 32-bit fields of the older struct mallinfo overflow.
 */
struct info {
  size_t system, free_chunks, fast_chunks, mapped_chunks, mapped, unused, fast, in_use, free, top;
};
static struct info (*read_info)(void);

static ssize_t read_text(void *info, const char *text, size_t length) {
  malloc_info_feed(info, text, length);
  return (ssize_t)length;
}

int glibc_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity) {
  struct malloc_info info = {.rows = arenas, .capacity = capacity};
  if (!write_info) return -ENOTSUP;
  FILE *stream = fopencookie(&info, "w", (cookie_io_functions_t){.write = read_text});
  if (!stream) return -ENOTSUP;
  char buffer[4096];
  setvbuf(stream, buffer, _IOFBF, sizeof buffer);
  int failed = write_info(0, stream);
  if (fclose(stream) != 0 || failed || info.arenas == 0) return -ENOTSUP;
  out->arenas = info.arenas;
  out->rows = info.arenas < capacity ? (uint32_t)info.arenas : capacity;
  out->system_bytes = info.sum.system_bytes + info.mapped_bytes;
  out->retained_bytes = info.sum.retained_bytes;
  out->used_bytes = out->system_bytes - out->retained_bytes;
  out->mapped_bytes = info.mapped_bytes;
  out->releasable_bytes = info.sum.releasable_bytes;
  return 0;
}

bool glibc_bytes_in_use(uint64_t *bytes) {
  if (read_info) {
    struct info info = read_info();
    *bytes = info.in_use + info.mapped;
    return true;
  }
  struct mallometer_allocator_state state;
  if (glibc_figures(&state, NULL, 0) != 0) return false;
  *bytes = state.used_bytes;
  return true;
}

void glibc_find(void) {
  next_allocator_function(&read_info, "mallinfo2");
  next_allocator_function(&write_info, "malloc_info");
  next_allocator_function(&trim, "malloc_trim");
}

int glibc_trim(void) {
  if (!trim) return -ENOTSUP;
  trim(0);
  return 0;
}
