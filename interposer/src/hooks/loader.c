/*
 * dlopen and dlmopen, for the sake of header mode, of JVMs and of Java's foreign functions only.
 *
 * A library that is opened with RTLD_DEEPBIND calls the C library's free past us. Should it free an object of ours that
 * has a header, the C library aborts. So in header mode the flag is taken off, and that is said; the library then
 * resolves its symbols as any other. A namespace of its own has a C library of
 * its own, whose objects never meet ours.
 *
 * From JDK 22 on Java code calls malloc by the address that its default lookup has: that which dlsym finds in a library
 * of the JDK, libsyslookup.so, which has no functions but needs the C library. Such a search does not begin with what
 * is preloaded. So the JVM's calls of dlsym are redirected once it opens that library: of the functions that are found
 * there it gets ours where the program does. Where the JVM's own word for dlsym cannot be changed, it gets the program
 * as the place to search in: all that the library leads to is still found, and more, and malloc is ours.
 *
 * The bridge asks for call sites some time after the JVM has begun to allocate. They are recorded from when libjvm.so
 * is opened.
 *
 * dlopen looks at its return address to know whose search path and namespace apply. The last call must therefore be a
 * jump, so that the return address stays the program's; the test `fast_path` checks that it is. musl's does not look,
 * and is called.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hooks/interposed.h"
#include "hooks/state.h"
#include "platform/glibc_versions.h"
#include "platform/imports.h"
#include "platform/libc.h"
#include "platform/loaded_objects.h"

typedef void *dlopen_function(const char *file, int mode);

static dlopen_function *next_dlopen;
static bool knows_callers;

__attribute__((noinline)) static dlopen_function *find_next_dlopen(void) {
  void *address = dlsym(RTLD_NEXT, "dlopen");
  dlopen_function *found;
  memcpy(&found, &address, sizeof found);
  knows_callers = dlopen_knows_callers();
  __atomic_store_n(&next_dlopen, found, __ATOMIC_RELEASE);
  return found;
}

static int safe_mode(const char *file, int mode) {
  if (size_source != SIZE_FROM_HEADER) return mode;
  if (file && strchr(file, '/') && !(mode & RTLD_NOLOAD)) hook_owner.loads_in_header_mode(file);
  if (!(mode & RTLD_DEEPBIND)) return mode;
  hook_owner.refuses_deepbind(file);
  return mode & ~RTLD_DEEPBIND;
}

static bool is_javas_lookup(const char *file) {
  static const char name[] = "/libsyslookup.so";
  const char *last = file ? strrchr(file, '/') : NULL;
  int state = __atomic_load_n(&hook_state, __ATOMIC_RELAXED);
  return last && strcmp(last, name) == 0 && (state == HOOK_COUNTING || state == HOOK_IDLE);
}

static bool is_jvm(const char *file) {
  const char *slash = file ? strrchr(file, '/') : NULL, *name = slash ? slash + 1 : file;
  return name && strcmp(name, "libjvm.so") == 0;
}

static void *javas_lookup;

/* What a program that calls the function comes to. */
static void *own_function(const char *name) {
#define OWN(function) \
  { #function, (void *)(uintptr_t)function }
  static const struct {
    const char *name;
    void *function;
  } own[] = {OWN(malloc),
             OWN(free),
             OWN(calloc),
             OWN(realloc),
             OWN(reallocarray),
             OWN(memalign),
             OWN(aligned_alloc),
             OWN(posix_memalign),
             OWN(valloc),
             OWN(pvalloc),
             OWN(malloc_usable_size),
             /* Which only some C libraries have. */
             {"cfree", (void *)(uintptr_t)free},
             {"free_sized", (void *)(uintptr_t)free},
             {"free_aligned_sized", (void *)(uintptr_t)free}};
#undef OWN
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (strcmp(own[i].name, name) == 0) return own[i].function;
  }
  return NULL;
}

__attribute__((noinline)) static void *search_javas_lookup(const char *name) {
  void *found = dlsym(javas_lookup, name), *own = found ? own_function(name) : NULL;
  return own ? own : found;
}

/* What the JVM calls for dlsym, which looks at its return address too. */
static void *javas_dlsym(void *place, const char *name) {
  if (place == __atomic_load_n(&javas_lookup, __ATOMIC_ACQUIRE)) return search_javas_lookup(name);
  return dlsym(place, name);
}

/*
 * What to open: the library itself, if the object that opens it and that `caller` is in will look functions up through
 * us, or if it cannot be opened; else NULL, the program. The library stays open, so that its handle means no other.
 */
__attribute__((noinline)) static const char *open_for_java(dlopen_function *open, const char *file, int mode,
                                                           const void *caller) {
  const void *real = (const void *)(uintptr_t)dlsym, *ours = (const void *)(uintptr_t)javas_dlsym;
  void *library = open(file, mode);
  if (!library) return file;
  __atomic_store_n(&javas_lookup, library, __ATOMIC_RELEASE);
  if (import_redirect(caller, "dlsym", real, ours)) return file;
  return open(file, mode | RTLD_GLOBAL) ? NULL : file;
}

/* Where the caller does not matter: what was loaded is known from then on. */
__attribute__((noinline)) static void *open_and_know(dlopen_function *open, const char *file, int mode) {
  void *opened = open(file, mode);
  loaded_objects_refresh();
  return opened;
}

void *program_dlopen(const char *file, int mode) {
  dlopen_function *open = __atomic_load_n(&next_dlopen, __ATOMIC_ACQUIRE);
  if (!open) open = find_next_dlopen();
  if (is_jvm(file)) hook_owner.meets_jvm();
  if (is_javas_lookup(file)) file = open_for_java(open, file, mode, __builtin_return_address(0));
  mode = safe_mode(file, mode);
  if (!knows_callers) return open_and_know(open, file, mode);
  return open(file, mode);
}

typedef void *dlmopen_function(Lmid_t namespace, const char *file, int mode);

static dlmopen_function *next_dlmopen;

__attribute__((noinline)) static dlmopen_function *find_next_dlmopen(void) {
  void *address = dlsym(RTLD_NEXT, "dlmopen");
  dlmopen_function *found;
  memcpy(&found, &address, sizeof found);
  __atomic_store_n(&next_dlmopen, found, __ATOMIC_RELEASE);
  return found;
}

void *program_dlmopen(Lmid_t namespace, const char *file, int mode) {
  dlmopen_function *open = __atomic_load_n(&next_dlmopen, __ATOMIC_ACQUIRE);
  if (!open) open = find_next_dlmopen();
  if (!open) return NULL; /* a C library without it */
  return open(namespace, file, namespace == LM_ID_BASE ? safe_mode(file, mode) : mode);
}
