/*
 * Implements libc.h, loader.h, loaded_objects.h and own_image_bytes() by dyld. On Darwin, the functions of
 * dynamic_symbols.h find nothing, and with_loader_lock() takes no lock.
 *
 * dyld takes its lock to look up an address, so malloc must not call it. Instead, callbacks write each image to the
 * table `images`. dyld holds its lock when it calls them. Readers inside of malloc walk the table without a lock. A new
 * row is complete before `image_count` includes it, and rows never move. Unloading sets the row's `begin` to
 * UINTPTR_MAX, so that no address is in the row.
 */
#include <dlfcn.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/dynamic_symbols.h"
#include "platform/executable.h"
#include "platform/libc.h"
#include "platform/loaded_objects.h"
#include "platform/loader.h"
#include "platform/loader_lock.h"

/* ---- Images -------------------------------------------------------------------------------------------- */

enum { MOST_IMAGES = 4096, PATH_BYTES = 512 * 1024 };

static struct image {
  uintptr_t begin, end; /* the image's code; `begin` is UINTPTR_MAX after the image was unloaded */
  uintptr_t slide;
  const char *path;
} images[MOST_IMAGES];
static uint32_t image_count;
static uint64_t changes;
/* Copies of the images' paths, because dyld may free a path when it unloads the image. New images have an empty path
 * when this buffer is full. */
static char paths[PATH_BYTES];
static size_t path_bytes;

static const struct load_command *command_of(const struct mach_header_64 *header, uint32_t wanted) {
  const char *at = (const char *)(header + 1);
  for (uint32_t i = 0; i < header->ncmds; i++) {
    const struct load_command *command = (const struct load_command *)at;
    if (command->cmd == wanted) return command;
    at += command->cmdsize;
  }
  return NULL;
}

/* Returns the end of __TEXT, the segment that begins with the header. */
static uintptr_t end_of_code(const struct mach_header_64 *header) {
  const char *at = (const char *)(header + 1);
  for (uint32_t i = 0; i < header->ncmds; i++) {
    const struct segment_command_64 *segment = (const struct segment_command_64 *)at;
    if (segment->cmd == LC_SEGMENT_64 && strcmp(segment->segname, SEG_TEXT) == 0)
      return (uintptr_t)header + segment->vmsize;
    at += segment->cmdsize;
  }
  return (uintptr_t)header;
}

static const char *keep_path(const void *header) {
  Dl_info info;
  if (!dladdr(header, &info) || !info.dli_fname) return "";
  size_t bytes = strlen(info.dli_fname) + 1;
  if (bytes > PATH_BYTES - path_bytes) return "";
  char *kept = memcpy(paths + path_bytes, info.dli_fname, bytes);
  path_bytes += bytes;
  return kept;
}

static void on_image_added(const struct mach_header *header, intptr_t slide) {
  const struct mach_header_64 *image = (const struct mach_header_64 *)header;
  uint32_t count = __atomic_load_n(&image_count, __ATOMIC_RELAXED);
  __atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
  if (count == MOST_IMAGES) return;
  images[count] = (struct image){(uintptr_t)header, end_of_code(image), (uintptr_t)slide, keep_path(header)};
  __atomic_store_n(&image_count, count + 1, __ATOMIC_RELEASE);
}

static void on_image_removed(const struct mach_header *header, intptr_t slide) {
  (void)slide;
  __atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < image_count; i++) {
    if (images[i].begin == (uintptr_t)header) __atomic_store_n(&images[i].begin, UINTPTR_MAX, __ATOMIC_RELEASE);
  }
}

/* The linker's name for the beginning of this library. */
extern const struct mach_header_64 __dso_handle;

/* Prevents the library from being unloaded, because zones, thread keys and dyld point to it. */
static void stay_loaded(void) {
  Dl_info own;
  if (dladdr(&__dso_handle, &own)) (void)dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool loaded_objects_start(bool kernel_tells) {
  (void)kernel_tells;
  static bool started;
  if (!started) {
    started = true;
    stay_loaded();
    _dyld_register_func_for_add_image(on_image_added); /* dyld also calls this for images that are loaded already */
    _dyld_register_func_for_remove_image(on_image_removed);
  }
  return true;
}

void loaded_objects_refresh(void) {}

void loaded_objects_forked(void) {}

size_t loaded_objects_footprint(void) { return sizeof images + sizeof paths; }

bool loaded_object_at(uintptr_t address, struct loaded_object *object) {
  uint32_t count = __atomic_load_n(&image_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    uintptr_t begin = __atomic_load_n(&images[i].begin, __ATOMIC_ACQUIRE);
    if (address < begin || address >= images[i].end) continue;
    *object =
        (struct loaded_object){.begin = begin, .end = images[i].end, .bias = images[i].slide, .path = images[i].path};
    return true;
  }
  return false;
}

bool loaded_object_remains(const struct loaded_object *object) {
  struct loaded_object found;
  return loaded_object_at(object->begin, &found) && found.begin == object->begin;
}

uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity) {
  const struct mach_header_64 *header = (const struct mach_header_64 *)object->begin;
  if (!loaded_object_remains(object) || header->magic != MH_MAGIC_64) return 0;
  const struct uuid_command *uuid = (const struct uuid_command *)command_of(header, LC_UUID);
  if (!uuid) return 0;
  uint32_t bytes = sizeof uuid->uuid < capacity ? (uint32_t)sizeof uuid->uuid : capacity;
  memcpy(id, uuid->uuid, bytes);
  return bytes;
}

static size_t own_bytes;

void own_image_measure(void) {
  const char *at = (const char *)(&__dso_handle + 1);
  for (uint32_t i = 0; i < __dso_handle.ncmds; i++) {
    const struct segment_command_64 *segment = (const struct segment_command_64 *)at;
    if (segment->cmd == LC_SEGMENT_64) own_bytes += segment->vmsize;
    at += segment->cmdsize;
  }
}

size_t own_image_bytes(void) { return own_bytes; }

/* ---- The loader ---------------------------------------------------------------------------------------- */

void forget_loader_errors(void) { (void)dlerror(); }

/* Looks up the path by the file's name, because dyld's dlopen needs a path. */
void *already_loaded(const char *name) {
  uint32_t count = __atomic_load_n(&image_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    const char *slash = strrchr(images[i].path, '/');
    if (strcmp(slash ? slash + 1 : images[i].path, name) == 0) return dlopen(images[i].path, RTLD_LAZY | RTLD_NOLOAD);
  }
  return NULL;
}

uint64_t loader_changes(void) { return __atomic_load_n(&changes, __ATOMIC_RELAXED); }

/* Calls `run` without a lock. On Linux, mallometer_attach() holds the lock while it changes function pointers (GOT
 * entries) of loaded objects. On Darwin it does not change loaded objects. */
bool with_loader_lock(void (*run)(void *argument), void *argument) {
  run(argument);
  return true;
}

struct link_map *object_of(const void *address) {
  (void)address;
  return NULL;
}

struct link_map *first_object(void) {
  return NULL;
}

struct link_map *next_object(const struct link_map *object) {
  (void)object;
  return NULL;
}

struct link_map *own_object(void) {
  return NULL;
}

const char *object_file_name(const struct link_map *object) {
  (void)object;
  return "";
}

uintptr_t object_bias(const struct link_map *object) {
  (void)object;
  return 0;
}

const void *function_in(const struct link_map *object, const char *name) {
  (void)object, (void)name;
  return NULL;
}

const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end) {
  (void)name, (void)begin, (void)end;
  return NULL;
}

bool refers_to(const struct link_map *object, bool (*matches)(const char *name)) {
  (void)object, (void)matches;
  return false;
}

/* ---- The C library ------------------------------------------------------------------------------------- */

bool libc_is_glibc(void) { return false; }

bool libc_is_musl(void) { return false; }

const char *libc_objection(void) { return NULL; }

const char *libc_objection_to_attach(void) { return NULL; }

const char library_suffix[] = ".dylib";

const char preload_variable[] = "DYLD_INSERT_LIBRARIES";

const void *address_in_libc(void) { return NULL; }

bool thread_keys_exist(void) { return true; }

void around_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  pthread_atfork(before, in_parent, in_child);
}

void after_fork_in_child(void (*run)(void)) { around_forks(NULL, NULL, run); }

/* The functions to run at exit, in the order of registration; the last one runs first. run_without_status() calls
 * them, because atexit() passes no exit status. */
static void (*to_run[MOST_AT_EXIT])(int status);
static uint32_t to_run_count;

static void run_without_status(void) { to_run[--to_run_count](STATUS_NOT_TOLD); }

void at_exit(void (*run)(int status)) {
  if (to_run_count == MOST_AT_EXIT) return;
  to_run[to_run_count++] = run;
  atexit(run_without_status);
}
