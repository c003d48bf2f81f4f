/* Runs a function inside of an IFUNC resolver. See loader_lock.h. */
#include "platform/loader_lock.h"

#include <link.h>
#include <stddef.h>

#include "platform/dynamic_symbols.h"
#include "platform/glibc_versions.h"
#include "platform/loader.h"
#include "platform/visibility.h"

/* The variables are volatile, because the compiler assumes that dlsym, a leaf function, calls no function in this
 * file. */
static void (*volatile pending)(void *);
static void *volatile pending_argument;

static void nothing(void) {}

typedef void nothing_function(void);
__attribute__((used)) static nothing_function *resolve(void) {
  void (*run)(void *) = pending;
  pending = NULL;
  if (run) run(pending_argument);
  return nothing;
}

EXPORT void mallometer_under_loader_lock(void) __attribute__((ifunc("resolve")));

/*
 * Returns a handle of this library, so that dlsym does not find the symbol of another copy of it. The handle is the
 * same pointer as the link map. It becomes valid only when the library is opened, which this function does: a library
 * that was loaded because another object needs it was never opened.
 */
static void *open_own_object(void) {
  const struct link_map *own = own_object();
  void *handle = own ? already_loaded(own->l_name) : NULL;
  if (!handle) forget_loader_errors();
  return handle == own ? handle : NULL;
}

bool with_loader_lock(void (*run)(void *argument), void *argument) {
  static void *own;
  if (!own) own = open_own_object();
  if (!own) return false;
  pending_argument = argument;
  pending = run;
  (void)dlsym(own, "mallometer_under_loader_lock");
  bool ran = pending == NULL;
  pending = NULL;
  return ran;
}
