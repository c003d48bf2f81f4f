/* Finds out which C library the process has, by weak references and by look-ups at run time. See libc.h. */
#include "platform/libc.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "platform/glibc_versions.h"
#include "platform/loader.h"

/* ---- Identification ------------------------------------------------------------------------------------ */

/* Returns the lowest address of the C library: the only object that defines getauxval(). */
static const void *begin_of_libc(void) {
  Dl_info info;
  return dladdr((const void *)(uintptr_t)getauxval, &info) ? info.dli_fbase : NULL;
}

bool libc_is_glibc(void) {
  Dl_info info;
  const void *libc = begin_of_libc();
  return gnu_get_libc_version && libc && dladdr(address_in_libc(), &info) && info.dli_fbase == libc;
}

/* The variable __optreset of getopt(3) exists in musl only. */
bool libc_is_musl(void) {
  bool has_own_name = !libc_is_glibc() && dlsym(RTLD_DEFAULT, "__optreset") != NULL;
  forget_loader_errors();
  return has_own_name;
}

const char *libc_objection(void) {
  return libc_is_glibc() || libc_is_musl() ? NULL : "the C library is neither glibc nor musl";
}

const char *libc_objection_to_attach(void) {
  return libc_is_glibc() ? NULL : "the C library is not glibc (Alpine uses musl): preload the library";
}

const char library_suffix[] = ".so";

const char preload_variable[] = "LD_PRELOAD";

bool thread_keys_exist(void) { return pthread_key_create && pthread_key_delete && pthread_setspecific; }

const void *address_in_libc(void) { return (const void *)gnu_get_libc_version; }

bool dlopen_depends_on_caller(void) { return !libc_is_musl(); }

/* ---- Forks --------------------------------------------------------------------------------------------- */

/* Calls glibc's __register_atfork() directly. A call of pthread_atfork() would link a static part of glibc into this
 * library, which also runs with musl. musl's pthread_atfork() is looked up by its name. */
void around_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  int (*register_handlers)(void (*)(void), void (*)(void), void (*)(void));
  if (__register_atfork) {
    __register_atfork(before, in_parent, in_child, NULL);
    return;
  }
  void *address = dlsym(RTLD_DEFAULT, "pthread_atfork");
  memcpy(&register_handlers, &address, sizeof address);
  if (register_handlers) register_handlers(before, in_parent, in_child);
}

void after_fork_in_child(void (*run)(void)) { around_forks(NULL, NULL, run); }

/* ---- Exit ---------------------------------------------------------------------------------------------- */

/* Calls `run` with the byte of the status that the parent process receives. */
static void run_with_status(int status, void *run) { ((void (*)(int))(uintptr_t)run)(status & 0xff); }

/* Functions to run at exit, in the order of registration, if the C library has no on_exit(). For each of them,
 * at_exit() registers run_without_status() once. Each call of run_without_status() runs the last registered function
 * that has not run yet. */
static void (*to_run[MOST_AT_EXIT])(int status);
static uint32_t to_run_count;

static void run_without_status(void) { to_run[--to_run_count](STATUS_NOT_TOLD); }

void at_exit(void (*run)(int status)) {
  if (on_exit) {
    on_exit(run_with_status, (void *)(uintptr_t)run);
  } else if (to_run_count < MOST_AT_EXIT) {
    to_run[to_run_count++] = run;
    atexit(run_without_status);
  }
}
