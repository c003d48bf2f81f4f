/*
 * Replacements of dlopen and dlmopen, needed for header mode (a header before each object), JVMs and Java's foreign
 * functions.
 *
 * A library that is opened with RTLD_DEEPBIND calls the C library's free directly, which aborts for an object with a
 * header. In header mode the flag is therefore removed and reported. A separate namespace (dlmopen) has a C library of
 * its own, which never gets objects with headers.
 *
 * From JDK 22 on, Java code can call malloc as a foreign function. The JVM finds malloc by dlsym in libsyslookup.so,
 * which has no functions of its own, but depends on the C library. Such a search skips preloaded libraries. When the
 * JVM opens libsyslookup.so, its calls of dlsym are therefore redirected to java_dlsym(). If the JVM's GOT entry of
 * dlsym cannot be changed, the JVM gets a handle of the program instead, in which dlsym also finds this library's
 * malloc.
 *
 * The recording of call sites begins when libjvm.so is opened. Java code could start it only later, after the JVM has
 * begun to allocate.
 *
 * dlopen chooses the search path and the namespace by its return address. The real dlopen is therefore called by a
 * jump, which keeps the program's return address; the test `fast_path` checks it. musl's dlopen ignores its return
 * address, so a normal call is enough there.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hooks/interposed.h"
#include "hooks/redirection.h"
#include "hooks/state.h"
#include "platform/glibc_versions.h"
#include "platform/imports.h"
#include "platform/libc.h"
#include "platform/loaded_objects.h"

typedef void *dlopen_function(const char *file, int mode);

static dlopen_function *next_dlopen;
static bool open_depends_on_caller;

__attribute__((noinline)) static dlopen_function *find_next_dlopen(void) {
  void *address = dlsym(RTLD_NEXT, "dlopen");
  dlopen_function *found;
  memcpy(&found, &address, sizeof found);
  open_depends_on_caller = dlopen_depends_on_caller();
  __atomic_store_n(&next_dlopen, found, __ATOMIC_RELEASE);
  return found;
}

static int safe_mode(const char *file, int mode) {
  if (size_source != SIZE_FROM_HEADER) return mode;
  if (file && strchr(file, '/') && !(mode & RTLD_NOLOAD)) hook_owner.before_load_with_headers(file);
  if (!(mode & RTLD_DEEPBIND)) return mode;
  hook_owner.on_deepbind_removal(file);
  return mode & ~RTLD_DEEPBIND;
}

static bool is_java_lookup_library(const char *file) {
  static const char name[] = "/libsyslookup.so";
  const char *last = file ? strrchr(file, '/') : NULL;
  int state = __atomic_load_n(&hook_state, __ATOMIC_RELAXED);
  return last && strcmp(last, name) == 0 && (state == HOOK_COUNTING || state == HOOK_IDLE);
}

static bool is_jvm(const char *file) {
  const char *slash = file ? strrchr(file, '/') : NULL, *name = slash ? slash + 1 : file;
  return name && strcmp(name, "libjvm.so") == 0;
}

static void *java_lookup_library;

__attribute__((noinline)) static void *search_java_lookup_library(const char *name) {
  void *found = dlsym(java_lookup_library, name), *own = found ? redirected_function(name) : NULL;
  return own ? own : found;
}

/* Replaces the JVM's dlsym for searches in libsyslookup.so. Passes other searches on by a jump, because the result of
 * dlsym also depends on its return address. */
static void *java_dlsym(void *place, const char *name) {
  if (place == __atomic_load_n(&java_lookup_library, __ATOMIC_ACQUIRE)) return search_java_lookup_library(name);
  return dlsym(place, name);
}

/*
 * Opens libsyslookup.so (`file`), and redirects dlsym to java_dlsym() in the object that contains `caller`. Returns the
 * argument for the caller's dlopen: `file`, or NULL (the program) if dlsym could not be redirected. libsyslookup.so
 * stays open, so that its handle, which java_dlsym() compares, stays unique.
 */
__attribute__((noinline)) static const char *open_for_java(dlopen_function *open, const char *file, int mode,
                                                           const void *caller) {
  const void *real = (const void *)(uintptr_t)dlsym, *ours = (const void *)(uintptr_t)java_dlsym;
  void *library = open(file, mode);
  if (!library) return file;
  __atomic_store_n(&java_lookup_library, library, __ATOMIC_RELEASE);
  if (import_redirect(caller, "dlsym", real, ours)) return file;
  return open(file, mode | RTLD_GLOBAL) ? NULL : file;
}

/* Opens a library, and refreshes the list of loaded objects. Used where the C library's dlopen ignores the address of
 * its caller. */
__attribute__((noinline)) static void *open_and_refresh(dlopen_function *open, const char *file, int mode) {
  void *opened = open(file, mode);
  loaded_objects_refresh();
  return opened;
}

void *program_dlopen(const char *file, int mode) {
  dlopen_function *open = __atomic_load_n(&next_dlopen, __ATOMIC_ACQUIRE);
  if (!open) open = find_next_dlopen();
  if (is_jvm(file)) hook_owner.before_jvm_load();
  if (is_java_lookup_library(file)) file = open_for_java(open, file, mode, __builtin_return_address(0));
  mode = safe_mode(file, mode);
  if (!open_depends_on_caller) return open_and_refresh(open, file, mode);
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
  if (!open) return NULL;
  return open(namespace, file, namespace == LM_ID_BASE ? safe_mode(file, mode) : mode);
}
