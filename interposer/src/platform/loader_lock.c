/* Runs a function inside of an IFUNC resolver. See loader_lock.h. */
#include "platform/loader_lock.h"

#include <link.h>
#include <stddef.h>

#include "platform/dynamic_symbols.h"
#include "platform/glibc_versions.h"
#include "platform/loader.h"
#include "platform/visibility.h"

/* The compiler assumes that dlsym calls no function of this file (attribute leaf). Volatile variables are
 * nevertheless stored before the call and read after it. */
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
 * Returns a handle of this library, so that dlsym does not find the symbol in another copy of the library. The handle
 * equals the address of the link map, but it is invalid until the library is opened. A library that was loaded as a
 * dependency was never opened, so this function opens it.
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
