/*
 * dlopen, for header mode's sake only.
 *
 * A library that is opened with RTLD_DEEPBIND calls the C library's free past us. Should it free an object of ours that
 * has a header, the C library aborts. So in header mode the flag is taken off, and that is said; the library then
 * resolves its symbols as any other. In usable mode this function is a jump.
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

void *program_dlopen(const char *file, int mode) {
  dlopen_function *open = __atomic_load_n(&next_dlopen, __ATOMIC_ACQUIRE);
  if (!open) open = find_next_dlopen();
  if (size_source == SIZE_FROM_HEADER && (mode & RTLD_DEEPBIND)) {
    hook_refuses_deepbind(file);
    mode &= ~RTLD_DEEPBIND;
  }
  return open(file, mode);
}
