/*
 * dlopen and dlmopen, for header mode's sake only.
 *
 * A library that is opened with RTLD_DEEPBIND calls the C library's free past us. Should it free an object of ours that
 * has a header, the C library aborts. So in header mode the flag is taken off, and that is said; the library then
 * resolves its symbols as any other. In usable mode these functions are jumps. A namespace of its own has a C library of
 * its own, whose objects never meet ours.
 *
 * dlopen looks at its return address to know whose search path and namespace apply. The last call must therefore be a
 * jump, so that the return address stays the program's; the test `fast_path` checks that it is.
 */
#include <dlfcn.h>
#include <string.h>

#include "hooks/state.h"
#include "platform/glibc_versions.h"
#include "platform/interposed.h"

typedef void *dlopen_function(const char *file, int mode);

static dlopen_function *next_dlopen;

__attribute__((noinline)) static dlopen_function *find_next_dlopen(void) {
  void *address = dlsym(RTLD_NEXT, "dlopen");
  dlopen_function *found;
  memcpy(&found, &address, sizeof found);
  __atomic_store_n(&next_dlopen, found, __ATOMIC_RELEASE);
  return found;
}

static int safe_mode(const char *file, int mode) {
  if (size_source != SIZE_FROM_HEADER || !(mode & RTLD_DEEPBIND)) return mode;
  hook_refuses_deepbind(file);
  return mode & ~RTLD_DEEPBIND;
}

void *program_dlopen(const char *file, int mode) {
  dlopen_function *open = __atomic_load_n(&next_dlopen, __ATOMIC_ACQUIRE);
  if (!open) open = find_next_dlopen();
  return open(file, safe_mode(file, mode));
}

#ifdef LM_ID_BASE
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
  return open(namespace, file, namespace == LM_ID_BASE ? safe_mode(file, mode) : mode);
}
#endif
