/* Opens a library for system_lookup.c. */
#include <dlfcn.h>

void *open_library(const char *file);

void *open_library(const char *file) { return dlopen(file, RTLD_LAZY); }
