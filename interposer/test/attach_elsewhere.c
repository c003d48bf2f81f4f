/*
 * Tests a program that opens the library although the C library is not glibc. mallometer_attach() must fail and state
 * the reason. With musl, dlopen() succeeds only if the library is preloaded, because the library has initial-exec
 * thread-local variables. The second argument is "counts" if the library is preloaded and already counts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
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
  bool counts = argc == 3 && strcmp(argv[2], "counts") == 0;
  CHECK_EQUAL(attach(), counts ? -EALREADY : -ENOTSUP);
  struct mallometer_report report = {0};
  CHECK_EQUAL(read_report(&report), 0);
  CHECK_EQUAL(report.state, counts ? MALLOMETER_STATE_COUNTING : MALLOMETER_STATE_NOT_PRELOADED);
  CHECK(counts || strstr(report.reason, "not glibc"));
  CHECK_EQUAL(detach(), -ENODATA);
  free(realloc(malloc(100), 200));
  return 0;
}
