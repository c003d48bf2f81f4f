/* A library through which system_lookup.c calls dlopen(). */
#include <dlfcn.h>

void *open_library(const char *file);

void *open_library(const char *file) { return dlopen(file, RTLD_LAZY); }
