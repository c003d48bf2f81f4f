/* Finds and describes the next allocator. See next.h. */
#include "allocator/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "allocator/bootstrap.h"
#include "platform/arch.h"
#include "platform/dynamic_symbols.h"
#include "platform/glibc_versions.h"
#include "platform/loader.h"

NEAR_VARIABLE struct next_allocator next;
struct next_allocator after;
bool after_serves;

static bool comes_before(const void *address, const void *other) {
  const struct link_map *object = object_of(address), *later = object_of(other);
  while (object && object != later) object = object->l_next;
  return object && later;
}

/*
 * Finds a function as the loader does for a program. dlsym skips functions that an object has only under an old
 * version, such as those of libc_malloc_debug, and dlvsym skips functions without version. If both find a function,
 * the loader uses the one whose object comes first.
 */
static void *find_version(void *scope, const char *name, const char *version) {
  void *usual = dlsym(scope, name);
  void *versioned = version && dlvsym ? dlvsym(scope, name, version) : NULL;
  if (versioned && (!usual || comes_before(versioned, usual))) return versioned;
  return usual;
}

void *program_function(const char *name) { return find_version(RTLD_DEFAULT, name, VERSION_OF_MALLOC); }

/*
 * Stores the function that the program's calls reach. If the calls reach this library's own function `ours`, or if
 * `ours` is NULL, stores the next definition in the search order. Uses memcpy, because ISO C has no conversion from an
 * object pointer to a function pointer.
 */
static bool find(void *function, const char *name, const char *version, const void *ours) {
  void *own = NULL;
  if (ours) memcpy(&own, ours, sizeof own);
  void *address = own ? find_version(RTLD_DEFAULT, name, version) : NULL;
  if (!address || address == own) address = find_version(RTLD_NEXT, name, version);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

/* X(member of struct next_allocator, function, version) */
#define EACH_FUNCTION(X)                                    \
  X(malloc, malloc, VERSION_OF_MALLOC)                      \
  X(free, free, VERSION_OF_MALLOC)                          \
  X(calloc, calloc, VERSION_OF_MALLOC)                      \
  X(realloc, realloc, VERSION_OF_MALLOC)                    \
  X(memalign, memalign, VERSION_OF_MALLOC)                  \
  X(aligned_alloc, aligned_alloc, VERSION_OF_ALIGNED_ALLOC) \
  X(posix_memalign, posix_memalign, VERSION_OF_MALLOC)      \
  X(usable_size, malloc_usable_size, VERSION_OF_MALLOC)

static bool find_all(struct next_allocator *found, const struct next_allocator *ours) {
  bool complete = true;
#define FIND(member, function, version) \
  complete &= find(&found->member, #function, version, ours ? &ours->member : NULL);
  EACH_FUNCTION(FIND)
#undef FIND
  return complete;
}

/* Fills `after` with the functions that come after this library in the search order. Leaves it empty if there are
 * none, for example if this library was loaded late and therefore comes after the C library. */
static void find_after(void) {
  struct next_allocator found = {0};
  if (!find_all(&found, NULL) || !comes_before(&after, (const void *)(uintptr_t)found.malloc)) return;
  after = found;
  after_serves = true;
}

bool next_allocator_find(const struct next_allocator *ours) {
  struct next_allocator found = {0};
  bool complete = find_all(&found, ours);
  if (complete) next = found;
  if (complete && ours) find_after();
  return complete;
}

static bool is_look_up(const char *name) { return strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0; }

/* Returns true for an allocator that looks functions up by name, because it may look up and call the next malloc.
 * jemalloc and glibc's checking malloc are exceptions: they look up other functions only. */
static bool may_call_next(const struct link_map *object) {
  bool keeps_memory = function_in(object, "mallctl") || file_begins_with(object, "libc_malloc_debug");
  return refers_to(object, is_look_up) && !keeps_memory;
}

bool next_allocator_may_call_back(void) {
  const void *functions[sizeof next / sizeof(void *)];
  memcpy(functions, &next, sizeof next);
  bool may = false;
  for (size_t i = 0; after_serves && i < sizeof functions / sizeof *functions; i++) {
    may |= may_call_next(object_of(functions[i]));
  }
  return may;
}

static const void *definition_of_others(const char *name) {
  const struct link_map *own = own_object();
  const void *found = NULL;
  for (const struct link_map *object = first_object(); object && !found; object = object->l_next) {
    if (object != own) found = plain_function_in(object, name);
  }
  return found;
}

static bool lead_to_definition(void *function, const char *name) {
  const void *address;
  memcpy(&address, function, sizeof address);
  const struct link_map *object = object_of(address);
  if (object && !function_in(object, name)) address = definition_of_others(name);
  memcpy(function, &address, sizeof address);
  return object && address;
}

bool next_allocator_bypass_executable(void) {
  struct next_allocator found = next;
  bool complete = true;
#define LEAD(member, function, version) complete = complete && lead_to_definition(&found.member, #function);
  EACH_FUNCTION(LEAD)
#undef LEAD
  if (complete) next = found;
  return complete;
}

/* ---- An allocator that calls itself by name --------------------------------------------------------------- */

/*
 * musl's calloc calls malloc by name, and its memalign and posix_memalign call aligned_alloc by name. Such a call
 * reaches this library, which would count the object twice. The functions below replace musl's.
 *
 * calls_this_library() gets an object that a function of the next allocator returned. The object is in the bootstrap
 * buffer if the function called this library, which serves calls from that buffer while the next allocator is being
 * found.
 */
enum { CLEARED_AT_ONCE = 4096 };

/* Does not write into blocks of a large object that are zero already, so that untouched pages get no memory of their
 * own. */
static void clear(char *bytes, size_t count) {
  static const char zeros[CLEARED_AT_ONCE];
  for (size_t at = 0, now; at < count; at += now) {
    now = count - at < CLEARED_AT_ONCE ? count - at : CLEARED_AT_ONCE;
    if (count < CLEARED_AT_ONCE || memcmp(bytes + at, zeros, now) != 0) memset(bytes + at, 0, now);
  }
}

static void *calloc_by_malloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  void *object = next.malloc(bytes);
  if (object) clear(object, bytes);
  return object;
}

static int posix_memalign_by_aligned_alloc(void **object, size_t alignment, size_t size) {
  if (alignment < sizeof(void *)) return EINVAL;
  void *allocated = next.aligned_alloc(alignment, size);
  if (!allocated) return errno;
  *object = allocated;
  return 0;
}

static bool calls_this_library(void *object) {
  bool ours = is_bootstrap(object);
  if (!ours) next.free(object);
  return ours;
}

static void replace_self_calls(void) {
  if (calls_this_library(next.calloc(1, 1))) next.calloc = calloc_by_malloc;
  size_t alignment = 2 * sizeof(void *);
  if (!calls_this_library(next.memalign(alignment, 1))) return;
  /* An aligned_alloc that calls this library must not replace next.memalign. Heap-Layers' aligned_alloc, for
   * example, calls memalign by name: the two would call each other without end. */
  if (calls_this_library(next.aligned_alloc(alignment, alignment))) return;
  next.memalign = next.aligned_alloc;
  next.posix_memalign = posix_memalign_by_aligned_alloc;
}

bool next_allocator_tags_memory(void) {
  void *object = next.malloc(1);
  bool tagged = is_tagged(object);
  next.free(object);
  return tagged;
}

void next_allocator_warm_up(void) {
  replace_self_calls();
  void *object = next.malloc(1);
  if (object) (void)next.usable_size(object);
  next.free(object);
}

bool next_allocator_contains(const void *function) {
  Dl_info serving, other;
  return dladdr((const void *)(uintptr_t)next.malloc, &serving) && dladdr(function, &other) &&
         serving.dli_fbase == other.dli_fbase;
}

bool next_allocator_function(void *function, const char *name) {
  void *address = dlsym(RTLD_DEFAULT, name);
  if (address && !next_allocator_contains(address)) address = NULL;
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

bool is_of_sanitizer(const void *function) {
  const struct link_map *object = object_of(function);
  return object && function_in(object, "__sanitizer_get_allocated_size");
}

void next_allocator_name(char *name, size_t capacity) {
  Dl_info serving;
  if (!next.malloc || !dladdr((const void *)(uintptr_t)next.malloc, &serving) || !serving.dli_fname) {
    snprintf(name, capacity, "unknown");
    return;
  }
  const char *slash = strrchr(serving.dli_fname, '/'), *file = slash ? slash + 1 : serving.dli_fname;
  snprintf(name, capacity, "%s", strncmp(file, "ld-musl-", 8) == 0 ? "musl" : file);
}

static void *operator_in(const char *object_name, const char *mangled_name, const void *ours) {
  void *object = already_loaded(object_name);
  if (!object) return NULL;
  /*
   * The reference that already_loaded() took is kept, so that the object is not unloaded while its operator is used.
   */
  void *address = dlsym(object, mangled_name);
  return address == ours ? NULL : address;
}

void *next_operator(const char *mangled_name, const void *caller, bool of_allocator) {
  static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
  void *ours = dlsym(RTLD_DEFAULT, mangled_name);
  void *address = dlsym(RTLD_NEXT, mangled_name);
  if (address && !of_allocator && next_allocator_contains(address)) address = NULL;
  Dl_info calling;
  if (!address && dladdr(caller, &calling)) address = operator_in(calling.dli_fname, mangled_name, ours);
  for (size_t i = 0; !address && i < sizeof runtimes / sizeof *runtimes; i++) {
    address = operator_in(runtimes[i], mangled_name, ours);
  }
  forget_loader_errors();
  return address;
}
