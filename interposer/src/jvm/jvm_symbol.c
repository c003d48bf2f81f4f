/* Finds symbols by dlsym, also in a JVM that was loaded with RTLD_LOCAL. See jvm_symbol.h. */
#include "jvm/jvm_symbol.h"

#include <stddef.h>
#include <stdio.h>

#include "platform/glibc_versions.h"
#include "platform/libc.h"
#include "platform/loader.h"

void *jvm_symbol(const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  if (found) return found;
  char file[16];
  snprintf(file, sizeof file, "libjvm%s", library_suffix);
  void *library = already_loaded(file);
  if (library) found = dlsym(library, name);
  forget_loader_errors();
  return found;
}
