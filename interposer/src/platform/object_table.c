/* Makes, publishes and unmaps tables of loaded objects. See object_table.h. */
#include "platform/object_table.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "platform/keep_errno.h"
#include "platform/memory.h"
#include "platform/readable_memory.h"
#include "platform/sorted.h"

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct table {
  size_t bytes;
  uint64_t changes; /* The value of loader_changes() when the loader's list was read. */
  bool is_complete;
  uint32_t count;
  struct loaded_object objects[]; /* Sorted by `begin`. */
};

static struct table *current;
static uint32_t readers;

static bool find_in(const struct table *table, uintptr_t address, struct loaded_object *object) {
  size_t behind = rows_up_to(table->objects, table->count, sizeof *table->objects, address);
  if (behind == 0 || address >= table->objects[behind - 1].end) return false;
  *object = table->objects[behind - 1];
  return true;
}

/*
 * Searches the current table. No other thread unmaps the table meanwhile, because free_old() does nothing while
 * `readers` is not 0.
 *
 * The reader increments `readers`, then loads `current`. A publishing thread exchanges `current`, then loads `readers`.
 * All four operations are sequentially consistent, so either the publishing thread sees this reader, or this reader
 * sees the new table (test/litmus/old-table). The decrement of `readers` has release order, so it comes after the reads
 * of the table.
 */
bool object_table_find(uintptr_t address, struct loaded_object *object) {
  __atomic_fetch_add(&readers, 1, __ATOMIC_SEQ_CST);
  const struct table *table = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
  bool found = table && find_in(table, address, object);
  __atomic_fetch_sub(&readers, 1, __ATOMIC_RELEASE);
  return found;
}

/* ---- Paths --------------------------------------------------------------------------------------------- */

/* The bytes for paths. Paths are never freed, because a reader may still use a path after the table was unmapped.
 * New objects have the path NULL when all bytes are used. */
#define BYTES_OF_PATHS 65536u

static char *paths;
static uint32_t bytes_of_paths;

static const char *keep_path(const char *path) {
  size_t bytes = strlen(path) + 1;
  if (!paths) paths = memory_map(NULL, BYTES_OF_PATHS);
  if (!paths) return NULL;
  for (uint32_t at = 0; at < bytes_of_paths; at += (uint32_t)strlen(paths + at) + 1) {
    if (strcmp(paths + at, path) == 0) return paths + at;
  }
  if (bytes > BYTES_OF_PATHS - bytes_of_paths) return NULL;
  char *kept = memcpy(paths + bytes_of_paths, path, bytes);
  bytes_of_paths += (uint32_t)bytes;
  return kept;
}

/* ---- Unloaded objects ------------------------------------------------------------------------------------ */

/* A mark distinguishes an object from a later object at the same address. The mark is a hash of the first
 * WORDS_OF_MARK words of the ELF header (sizes, entry point) and of the unwind table (first functions). */
enum { WORDS_OF_MARK = 8 };

static bool mix(uint64_t *mark, const void *from) {
  uint64_t words[WORDS_OF_MARK];
  if (!is_readable((uintptr_t)from, sizeof words)) return false;
  memcpy(words, from, sizeof words);
  for (size_t i = 0; i < WORDS_OF_MARK; i++) *mark = (*mark ^ words[i]) * 0x9e3779b97f4a7c15u;
  return true;
}

static uint64_t mark_of(const struct loaded_object *object) {
  uint64_t mark = 1;
  if (!mix(&mark, (const void *)object->begin)) return 0;
  if (object->unwind_table && !mix(&mark, object->unwind_table)) return 0;
  return mark | 1;
}

bool object_table_confirms(const struct loaded_object *object) { return object->mark == mark_of(object); }

/* ---- Making a table ------------------------------------------------------------------------------------- */

/* Extra rows for objects that are loaded after the objects were counted and before the table is filled. */
#define MORE_OBJECTS 16u

static int count_object(struct dl_phdr_info *info, size_t size, void *table) {
  (void)size;
  struct table *counted = table;
  counted->changes = info->dlpi_adds + info->dlpi_subs;
  counted->count++;
  return 0;
}

bool object_describe(const struct dl_phdr_info *info, struct loaded_object *object) {
  *object = (struct loaded_object){.begin = UINTPTR_MAX, .bias = info->dlpi_addr, .path = info->dlpi_name};
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = begin + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) object->unwind_table = (const uint8_t *)begin;
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    if (begin < object->begin) object->begin = begin;
    if (end > object->end) object->end = end;
  }
  return object->begin < object->end;
}

struct filling {
  struct table *table;
  uint32_t capacity;
  bool is_first; /* Whether the object is the executable, for which glibc has no path. */
};

static int add_object(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  struct filling *filling = argument;
  struct table *table = filling->table;
  struct loaded_object object;
  const char *path = filling->is_first || !info->dlpi_name ? "" : info->dlpi_name;
  filling->is_first = false;
  if (table->count == filling->capacity) return 1;
  table->changes = info->dlpi_adds + info->dlpi_subs;
  if (!object_describe(info, &object) || !(object.mark = mark_of(&object))) {
    table->is_complete = false;
    return 0;
  }
  object.path = keep_path(path);
  uint32_t place = table->count++;
  for (; place > 0 && table->objects[place - 1].begin > object.begin; place--) {
    table->objects[place] = table->objects[place - 1];
  }
  table->objects[place] = object;
  return 0;
}

static bool is_up_to_date(const struct table *table, const struct table *counted) {
  return table && table->is_complete && table->changes == counted->changes;
}

/* Returns NULL if there is no memory, or if more than MORE_OBJECTS objects were loaded after the counting. */
static struct table *make_table(const struct table *counted) {
  uint32_t capacity = counted->count + MORE_OBJECTS;
  size_t bytes = sizeof(struct table) + capacity * sizeof(struct loaded_object);
  struct table *table = memory_map(NULL, bytes);
  if (!table) return NULL;
  *table = (struct table){.bytes = bytes, .is_complete = true};
  if (dl_iterate_phdr(add_object, &(struct filling){table, capacity, true}) == 0) return table;
  memory_unmap(table, bytes);
  return NULL;
}

/* ---- Publishing ---------------------------------------------------------------------------------------- */

static struct table *old[MOST_OLD_TABLES];

static struct table **room_for_old(void) {
  for (uint32_t i = 0; i < MOST_OLD_TABLES; i++) {
    if (!old[i]) return &old[i];
  }
  return NULL;
}

static void free_old(void) {
  if (__atomic_load_n(&readers, __ATOMIC_SEQ_CST) != 0) return;
  for (uint32_t i = 0; i < MOST_OLD_TABLES; i++) {
    if (old[i]) memory_unmap(old[i], old[i]->bytes);
    old[i] = NULL;
  }
}

static void publish(struct table *table) {
  struct table **place = room_for_old();
  if (place) {
    *place = __atomic_exchange_n(&current, table, __ATOMIC_SEQ_CST);
  } else {
    memory_unmap(table, table->bytes);
  }
  free_old();
}

static bool is_same(const struct table *one, const struct table *other) {
  return one && one->count == other->count && one->changes == other->changes &&
         memcmp(one->objects, other->objects, one->count * sizeof *one->objects) == 0;
}

static void refresh_if_changed(void) {
  struct table counted = {.count = 0};
  dl_iterate_phdr(count_object, &counted);
  if (is_up_to_date(current, &counted)) return;
  struct table *table = make_table(&counted);
  if (!table) return;
  if (is_same(current, table)) {
    memory_unmap(table, table->bytes);
  } else {
    publish(table);
  }
}

/* `busy` is set while a thread makes a table. Each caller sets `wanted`. If a caller finds `busy` set, the busy
 * thread makes one more table. */
static bool busy, wanted;

bool object_table_refresh(void) {
  KEEP_ERRNO;
  __atomic_store_n(&wanted, true, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) && !__atomic_exchange_n(&busy, true, __ATOMIC_SEQ_CST)) {
    if (__atomic_exchange_n(&wanted, false, __ATOMIC_SEQ_CST)) refresh_if_changed();
    __atomic_store_n(&busy, false, __ATOMIC_SEQ_CST);
  }
  return __atomic_load_n(&current, __ATOMIC_RELAXED) != NULL;
}

void object_table_forked(void) { __atomic_store_n(&busy, false, __ATOMIC_RELAXED); }

size_t object_table_footprint(void) {
  __atomic_fetch_add(&readers, 1, __ATOMIC_SEQ_CST);
  const struct table *table = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
  size_t bytes = table ? memory_whole_pages(table->bytes) + BYTES_OF_PATHS : 0;
  __atomic_fetch_sub(&readers, 1, __ATOMIC_RELEASE);
  return bytes;
}
