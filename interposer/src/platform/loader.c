/* Uses public functions only. See loader.h. */
#include "platform/loader.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "platform/glibc_versions.h"

void forget_loader_errors(void) {
  (void)dlerror(); /* returns the message and clears the error */
  (void)dlerror(); /* frees the message that the call before has returned */
}

void *already_loaded(const char *name) {
  void *(*open)(const char *, int);
  void *address = dlsym(RTLD_NEXT, "dlopen");
  memcpy(&open, &address, sizeof open);
  return open ? open(name, RTLD_NOLOAD | RTLD_LAZY) : NULL;
}

static int read_changes(struct dl_phdr_info *info, size_t size, void *changes) {
  (void)size;
  *(uint64_t *)changes = info->dlpi_adds + info->dlpi_subs;
  return 1; /* ends the walk, because dlpi_adds and dlpi_subs are the same for all objects */
}

uint64_t loader_changes(void) {
  uint64_t changes = 0;
  dl_iterate_phdr(read_changes, &changes);
  return changes;
}
