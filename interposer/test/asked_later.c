/*
 * Tests a program that looks up the library's functions for call sites with dlsym() instead of linking them. The
 * library reserves memory for call sites only when one of these functions is looked up or called. The first argument
 * names the case.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "loaded_library.h"

#define NOINLINE __attribute__((noinline, noclone))
#define SURE ((size_t)1 << 20) /* larger than the sampling interval, so each object of this size is sampled */
enum { KEPT = 20, MOST_SITES = 4096, MOST_OBJECTS = 70000 };

static struct mallometer_site sites[MOST_SITES];
static struct mallometer_object objects[MOST_OBJECTS];
static void *kept[KEPT];

static int ask_for_sites(void) {
  __typeof__(mallometer_sites) *read;
  find(&read, RTLD_DEFAULT, "mallometer_sites");
  errno = 4711;
  int count = read(sites, MOST_SITES, 0);
  CHECK_EQUAL(errno, 4711);
  return count;
}

static unsigned live(void) {
  __typeof__(mallometer_objects) *read;
  find(&read, RTLD_DEFAULT, "mallometer_objects");
  int count = read(objects, MOST_OBJECTS);
  CHECK(count >= 0);
  unsigned large = 0;
  for (int i = 0; i < count; i++) large += objects[i].bytes >= SURE;
  return large;
}

static NOINLINE void keep(void) {
  for (unsigned i = 0; i < KEPT; i++) {
    kept[i] = malloc(SURE);
    USE(kept[i]);
  }
}

static void give_up(void) {
  for (unsigned i = 0; i < KEPT; i++) free(kept[i]);
}

static void sites_work(void) {
  CHECK(self().tables_bytes > SURE);
  give_up();
  CHECK_EQUAL(live(), 0);
  keep();
  CHECK_EQUAL(live(), KEPT);
  CHECK(ask_for_sites() > 0);
  give_up();
  CHECK_EQUAL(live(), 0);
}

static void first_asked(void) {
  keep();
  CHECK_EQUAL(self().tables_bytes, 0);
  CHECK_EQUAL(ask_for_sites(), 0);
  sites_work();
}

static void before_a_jvm(const char *library) {
  keep();
  CHECK_EQUAL(self().tables_bytes, 0);
  CHECK(dlopen(library, RTLD_NOW | RTLD_LOCAL));
  sites_work();
}

/* ---- Limits -------------------------------------------------------------------------------------------- */

/* Runs under a limit that the shell has set. The library has no memory for call sites until the limit is raised, and
 * its report names the limit. */
static void limited(const char *name, int resource) {
  struct rlimit limit;
  CHECK_EQUAL(ask_for_sites(), -ENODATA);
  CHECK_EQUAL(ask_for_sites(), -ENODATA);
  printf("%s\n", self().reason);
  CHECK(strstr(self().reason, name));
  CHECK_EQUAL(self().tables_bytes, 0);
  CHECK_EQUAL(getrlimit(resource, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  CHECK_EQUAL(setrlimit(resource, &limit), 0);
  CHECK_EQUAL(ask_for_sites(), 0);
  CHECK_EQUAL(self().reason[0], 0);
  keep();
  sites_work();
}

/* ---- Concurrent allocations ---------------------------------------------------------------------------- */

static bool stop;
static unsigned churning;

static void churn_once(void) {
  void *object = malloc(SURE);
  USE(object);
  free(object);
}

static void *churn(void *unused) {
  churn_once();
  __atomic_add_fetch(&churning, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) churn_once();
  return unused;
}

/* Requests call sites while other threads allocate and free. Each free must find the sample of its object. */
static void in_the_middle(void) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, churn, NULL), 0);
  double begin = seconds();
  for (; __atomic_load_n(&churning, __ATOMIC_RELAXED) < THREADS; usleep(1000)) CHECK(seconds() - begin < 60);
  for (; ask_for_sites() == 0; usleep(1000)) CHECK(seconds() - begin < 60);
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  CHECK(ask_for_sites() > 0);
  CHECK_EQUAL(live(), 0);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  setbuf(stdout, NULL);
  if (strcmp(argv[1], "first") == 0) first_asked();
  if (strcmp(argv[1], "jvm") == 0) before_a_jvm(argv[2]);
  if (strcmp(argv[1], "addresses") == 0) limited("RLIMIT_AS", RLIMIT_AS);
  if (strcmp(argv[1], "data") == 0) limited("RLIMIT_DATA", RLIMIT_DATA);
  if (strcmp(argv[1], "threads") == 0) in_the_middle();
  return 0;
}
