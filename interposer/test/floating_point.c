/* Checks that malloc leaves the floating-point environment unchanged although the sampler computes with doubles: it
 * must not set an exception flag or trap, and must keep the rounding mode. */
#include <fenv.h>
#include <pthread.h>
#include <stdbool.h>

#include "check.h"

/* Exceptions do not trap on most aarch64 processors. */
#if defined(__x86_64__)
#define EXCEPTIONS_TRAP true
#else
#define EXCEPTIONS_TRAP false
#endif

static void allocate(void) {
  for (size_t i = 0; i < 20000; i++) free(malloc(1 + i % 3000));
  for (size_t i = 0; i < 20; i++) free(malloc(100000 + i));
}

static void *in_thread(void *unused) {
  CHECK_EQUAL(feclearexcept(FE_ALL_EXCEPT), 0);
  allocate();
  CHECK_EQUAL(fetestexcept(FE_ALL_EXCEPT), 0);

  if (feenableexcept(FE_ALL_EXCEPT) != -1) {
    allocate(); /* a floating-point exception here would end the program by SIGFPE */
    CHECK_EQUAL(fegetexcept(), FE_ALL_EXCEPT);
    CHECK(fedisableexcept(FE_ALL_EXCEPT) != -1);
  } else {
    CHECK(!EXCEPTIONS_TRAP);
  }

  CHECK_EQUAL(fesetround(FE_UPWARD), 0);
  CHECK_EQUAL(feraiseexcept(FE_DIVBYZERO), 0);
  allocate();
  CHECK_EQUAL(fegetround(), FE_UPWARD);
  CHECK_EQUAL(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
  return unused;
}

int main(void) {
  in_thread(NULL);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, in_thread, NULL), 0);
  pthread_join(thread, NULL);
  return 0;
}
