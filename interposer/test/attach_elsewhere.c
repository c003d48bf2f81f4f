/*
 * Where the C library is not glibc, a program that opens the library cannot attach it, learns why, and runs on. musl
 * does not open it at all, because of its thread-local variable, unless it is preloaded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 2);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    printf("%s\n", why);
    return !(why && strstr(why, "TLS") && !getenv("LD_PRELOAD"));
  }
  __typeof__(mallometer_attach) *attach = (__typeof__(mallometer_attach) *)dlsym(library, "mallometer_attach");
  __typeof__(mallometer_detach) *detach = (__typeof__(mallometer_detach) *)dlsym(library, "mallometer_detach");
  __typeof__(mallometer_self) *read_report = (__typeof__(mallometer_self) *)dlsym(library, "mallometer_self");
  CHECK(attach && detach && read_report);
  CHECK_EQUAL(attach(), -ENOTSUP);
  struct mallometer_report report = {.size = sizeof report};
  CHECK_EQUAL(read_report(&report), 0);
  CHECK_EQUAL(report.state, MALLOMETER_STATE_UNSUPPORTED);
  CHECK(strstr(report.reason, "not glibc"));
  CHECK_EQUAL(detach(), -ENODATA);
  free(realloc(malloc(100), 200));
  return 0;
}
