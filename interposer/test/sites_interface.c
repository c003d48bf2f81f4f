/* Tests the functions of mallometer.h for call sites: modules, objects, configuration and limits. The first argument
 * names the case. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))
#define MIB ((size_t)1 << 20)
enum { MOST_SITES = 16384, MOST_OBJECTS = 65536, MOST_NATIVE_FRAMES = 128 };

static struct mallometer_site sites[MOST_SITES];
static struct mallometer_object objects[MOST_OBJECTS];
static struct mallometer_module modules[1024];

static NOINLINE void *keeper(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static bool is_in(uint64_t address, const void *function) {
  uint64_t begin = (uint64_t)(uintptr_t)function;
  return address > begin && address - begin < 60;
}

static bool is_of_keeper(uint32_t site) {
  uint64_t innermost;
  return mallometer_site_stack(site, &innermost, 1) == 1 && is_in(innermost, (const void *)(uintptr_t)keeper);
}

static double live_bytes_of_keeper(void) {
  double sum = 0;
  int count = mallometer_sites(sites, MOST_SITES, 0);
  CHECK(count >= 0);
  for (int i = 0; i < count; i++) {
    if (is_of_keeper(sites[i].number)) sum += sites[i].allocated.bytes - sites[i].freed.bytes;
  }
  return sum;
}

/* ---- mallometer_modules ------------------------------------------------------------------------------- */

static const struct mallometer_module *module_at(uint64_t address) {
  int count = mallometer_modules(modules, 1024, 0);
  CHECK(count > 0);
  CHECK_EQUAL(self().modules, count);
  for (int i = count - 1; i >= 0; i--) {
    CHECK_EQUAL(modules[i].number, i);
    if (address >= modules[i].begin && address < modules[i].end) return &modules[i];
  }
  return NULL;
}

/* Checks the record of the library at `path`. The record must contain `function`, and must have this bias and build
 * id. */
static void expect_library(const char *path, uint64_t function, uint64_t bias) {
  static const uint8_t build_id[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  const struct mallometer_module *module = module_at(function);
  CHECK(module && strcmp(module->path, path) == 0);
  CHECK_EQUAL(module->bias, bias);
  CHECK_EQUAL(module->build_id_bytes, sizeof build_id);
  CHECK(memcmp(module->build_id, build_id, sizeof build_id) == 0);
}

static void modules_outlive_the_libraries(const char *path) {
  CHECK_EQUAL(mallometer_modules(NULL, 1, 0), -EINVAL);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  struct link_map *entry;
  CHECK_EQUAL(dlinfo(library, RTLD_DI_LINKMAP, &entry), 0);
  uint64_t bias = entry->l_addr;
  void *(*library_allocate)(size_t);
  void *address = dlsym(library, "library_allocate");
  memcpy(&library_allocate, &address, sizeof address);
  for (int i = 0; i < 10; i++) free(library_allocate(100));
  uint64_t function = (uint64_t)(uintptr_t)address;
  expect_library(path, function, bias);
  const struct mallometer_module *executable = module_at((uint64_t)(uintptr_t)keeper);
  CHECK(executable && executable->path[0] == '\0');

  CHECK_EQUAL(dlclose(library), 0);
#ifdef __GLIBC__ /* musl never unloads a library */
  CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));
#endif
  expect_library(path, function, bias);
  bool led_through = false;
  for (uint32_t site = 0; site < self().call_sites; site++) {
    uint64_t innermost;
    led_through |= mallometer_site_stack(site, &innermost, 1) == 1 && is_in(innermost, address);
  }
  CHECK(led_through);
  CHECK_EQUAL(mallometer_modules(modules, 1, 0), 1);
  CHECK_EQUAL(mallometer_modules(modules, 1, self().modules), 0);
}

static const char *path_of_library;

struct use {
  void *library;
  void *object;
};

static struct use open_and_allocate(void) {
  void *library = dlopen(path_of_library, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  void *(*library_allocate)(size_t);
  void *address = dlsym(library, "library_allocate");
  memcpy(&library_allocate, &address, sizeof address);
  return (struct use){library, library_allocate(100)};
}

static void *open_allocate_close(void *unused) {
  for (int i = 0; i < 300; i++) {
    struct use use = open_and_allocate();
    CHECK_EQUAL(dlclose(use.library), 0);
    free(use.object);
  }
  return unused;
}

/* Several threads open, use and close a library, so that the loader's list changes while a thread allocates in the
 * library. */
static void libraries_come_and_go(const char *path) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  path_of_library = path;
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, open_allocate_close, NULL), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  CHECK(self().modules > 1 && self().modules <= 1024);
}

static void write_copy(const char *path, const char *content, size_t bytes) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(content, 1, bytes, file) == bytes);
  CHECK_EQUAL(fclose(file), 0);
}

/* Opens 1,030 libraries, more than the table of 1,024 modules can hold. The libraries are copies of one file,
 * because the loader does not load the same file twice. */
static void frames_without_room_for_a_module_are_counted(const char *path) {
  static char content[MIB];
  FILE *library = fopen(path, "rb");
  CHECK(library);
  size_t bytes = fread(content, 1, sizeof content, library);
  fclose(library);
  CHECK(bytes > 0 && bytes < sizeof content);
  for (int i = 0; i < 1030; i++) {
    char name[] = "/tmp/mallometer-XXXXXX";
    int descriptor = mkstemp(name);
    CHECK(descriptor >= 0);
    close(descriptor);
    write_copy(name, content, bytes);
    path_of_library = name;
    free(open_and_allocate().object);
    CHECK_EQUAL(unlink(name), 0);
  }
  CHECK_EQUAL(self().modules, 1024);
  CHECK(self().frames_without_module >= 6);
}

/* ---- mallometer_objects ------------------------------------------------------------------------------- */

static uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the number of live objects of keeper(). Checks that each has `bytes` bytes and was recorded between
 * `first_ns` and `last_ns`. */
static int objects_of_keeper(uint64_t first_ns, uint64_t last_ns, uint64_t bytes) {
  /* The resolution is the unit of recorded times, 2^24 ns, plus the coarse clock's tick of 10 ms. */
  const uint64_t unit = ((uint64_t)1 << 24) + 10000000;
  int found = 0, count = mallometer_objects(objects, MOST_OBJECTS);
  CHECK(count >= 0);
  for (int i = 0; i < count; i++) {
    if (!is_of_keeper(objects[i].site)) continue;
    found++;
    CHECK(objects[i].probability == 1);
    CHECK_EQUAL(objects[i].bytes, bytes);
    CHECK(objects[i].born_ns + unit >= first_ns && objects[i].born_ns <= last_ns);
  }
  return found;
}

static bool has_address(const void *object) {
  int count = mallometer_objects(objects, MOST_OBJECTS);
  for (int i = 0; i < count; i++) {
    if (objects[i].inverted_address == ~(uint64_t)(uintptr_t)object) return true;
  }
  return false;
}

static void objects_have_ages_until_they_are_freed(void) {
  enum { KEPT = 100 };
  void *kept[KEPT];
  const struct timespec moment = {0, 60000000};
  CHECK_EQUAL(mallometer_objects(NULL, 1), -EINVAL);
  uint64_t first = monotonic_ns();
  for (int i = 0; i < KEPT; i++) kept[i] = keeper(200);
  uint64_t last = monotonic_ns(), bytes = unit_size(kept[0]);
  nanosleep(&moment, NULL);
  CHECK_EQUAL(objects_of_keeper(first, last, bytes), KEPT);
  CHECK(has_address(kept[0]) && has_address(kept[KEPT - 1]));
  CHECK_EQUAL(mallometer_objects(objects, 10), 10);
  for (int i = 0; i < 40; i++) free(kept[i]);
  CHECK_EQUAL(objects_of_keeper(first, last, bytes), KEPT - 40);
  uint64_t later = monotonic_ns();
  for (int i = 40; i < KEPT; i++) free(kept[i]);
  CHECK_EQUAL(objects_of_keeper(first, last, bytes), 0);
  kept[0] = keeper(200); /* may get the address of an object that was freed */
  CHECK_EQUAL(objects_of_keeper(later, monotonic_ns(), bytes), 1);
  free(kept[0]);
}

/* ---- mallometer_configure ----------------------------------------------------------------------------- */

static void values_that_cannot_be(void) {
  CHECK_EQUAL(mallometer_configure(0, 1), -EINVAL);
  CHECK_EQUAL(mallometer_configure(99, 1), -EINVAL);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_OVERHEAD_TARGET, 1000001), -EINVAL);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_OVERHEAD_TARGET, (uint64_t)1 << 32), -EINVAL);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SAMPLE_INTERVAL, 1), -EINVAL);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SAMPLE_INTERVAL, UINT64_MAX), -EINVAL);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_COMPILED_METHODS, 2), -EINVAL);
  for (uint64_t on = 0; on <= 1; on++) CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_COMPILED_METHODS, on), 0);
}

static void the_interval_changes_at_run_time(void) {
  enum { KEPT = 50 };
  static void *kept[KEPT];
  values_that_cannot_be();
  CHECK_EQUAL(self().sample_interval_bytes, 0);
  CHECK_EQUAL(mallometer_sites(sites, MOST_SITES, 0), -ENODATA);
  void *before = keeper(2 * MIB);

  errno = 4711;
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SAMPLE_INTERVAL, 524288), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_OVERHEAD_TARGET, 0), 0);
  CHECK_EQUAL(errno, 4711);
  CHECK_EQUAL(self().sample_interval_bytes, 524288);
  CHECK_EQUAL(self().overhead_target_ppm, 0);
  double bytes = 0;
  for (int i = 0; i < KEPT; i++) {
    kept[i] = keeper(MIB);
    bytes += (double)unit_size(kept[i]);
  }
  CHECK_EQUAL(live_bytes_of_keeper(), bytes); /* objects larger than the interval are all sampled */
  free(before);
  CHECK_EQUAL(live_bytes_of_keeper(), bytes);

  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SAMPLE_INTERVAL, 0), 0);
  uint64_t samples = self().samples;
  for (int i = 0; i < 100; i++) free(keeper(MIB));
  for (int i = 0; i < 100000; i++) free(keeper(100));
  CHECK_EQUAL(self().samples, samples);
  CHECK_EQUAL(live_bytes_of_keeper(), bytes);
  for (int i = 0; i < KEPT; i++) free(kept[i]); /* must be recorded although sampling is off */
  CHECK_EQUAL(live_bytes_of_keeper(), 0);

  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SAMPLE_INTERVAL, 4096), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_OVERHEAD_TARGET, 5000), 0);
  CHECK_EQUAL(self().overhead_target_ppm, 5000);
  for (int i = 0; i < 100; i++) free(keeper(MIB));
  CHECK(self().samples >= samples + 50);
}

static void an_interval_of_one_stays(void) {
  values_that_cannot_be();
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SAMPLE_INTERVAL, 524288), -EINVAL);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SAMPLE_INTERVAL, 0), -EINVAL);
  CHECK_EQUAL(self().sample_interval_bytes, 1);
}

/* ---- mallometer_disable ------------------------------------------------------------------------------- */

/* Frees of sampled objects must be recorded even while counting is off. Otherwise a later object at the same address
 * would be taken for the sampled one. */
static void samples_end_while_counting_is_off(void) {
  enum { KEPT = 30 };
  static void *kept[KEPT];
  for (int i = 0; i < KEPT; i++) kept[i] = keeper(1000);
  double each = (double)unit_size(kept[0]);
  CHECK_EQUAL(live_bytes_of_keeper(), KEPT * each);
  uint32_t others = self().live_samples - KEPT;
  CHECK_EQUAL(mallometer_disable(), 0);
  for (int i = 0; i < 10; i++) free(kept[i]);
  for (int i = 10; i < 20; i++) kept[i] = realloc(kept[i], 5000);
  CHECK_EQUAL(mallometer_enable(), 0);
  CHECK_EQUAL(live_bytes_of_keeper(), 10 * each);
  CHECK_EQUAL(self().live_samples, others + 10);
  for (int i = 10; i < KEPT; i++) free(kept[i]);
  CHECK_EQUAL(live_bytes_of_keeper(), 0);
}

/* ---- Frees that the library does not see -------------------------------------------------------------- */

static NOINLINE void *other_keeper(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

/* Frees a sampled object by __libc_free, which the library does not see. When a new object gets its address, only the
 * new one may count as live. */
static void an_address_has_one_object(void) {
  void (*free_past_hook)(void *);
  void *address = dlsym(RTLD_DEFAULT, "__libc_free"), *first = keeper(200);
  CHECK(address);
  memcpy(&free_past_hook, &address, sizeof address);
  double each = (double)unit_size(first);
  uint64_t lost = self().samples_not_followed;
  uint32_t live = self().live_samples;
  for (uint64_t i = 1; i <= 10; i++) {
    free_past_hook(first);
    CHECK(keeper(200) == first);
    CHECK_EQUAL(live_bytes_of_keeper(), each);
    CHECK_EQUAL(self().live_samples, live);
    CHECK_EQUAL(self().samples_not_followed, lost + i);
  }
  free_past_hook(first);
  CHECK(other_keeper(200) == first);
  CHECK_EQUAL(live_bytes_of_keeper(), 0);
  free(first);
  CHECK_EQUAL(self().live_samples, live - 1);
}

/* ---- A process without a JVM -------------------------------------------------------------------------- */

static void there_is_no_jvm(const char *expected) {
  static struct mallometer_method method = {0};
  errno = 4711;
  CHECK_EQUAL(mallometer_jvm_attach(), -atoi(expected));
  CHECK_EQUAL(mallometer_jvm_attach(), -atoi(expected));
  CHECK_EQUAL(mallometer_method_name(0, &method), -ENODATA);
  CHECK_EQUAL(mallometer_method_name(0, NULL), -EINVAL);
  CHECK_EQUAL(errno, 4711);
  CHECK_EQUAL(self().java, MALLOMETER_JAVA_OFF);
  CHECK_EQUAL(self().methods, 0);
}

static void call_sites_are_recorded_by_default(void) {
  struct mallometer_report report = self();
  CHECK_EQUAL(report.sample_interval_bytes, 524288);
  CHECK_EQUAL(report.overhead_target_ppm, 5000);
  CHECK_EQUAL(report.sampling_share_ppm, 1000000);
  CHECK_EQUAL(report.java, MALLOMETER_JAVA_OFF);
  CHECK(report.tables_bytes > MIB && report.tables_bytes <= 16 * MIB);
  CHECK(report.footprint_bytes > report.tables_bytes);
  CHECK(mallometer_sites(sites, MOST_SITES, 0) >= 0);
  CHECK_EQUAL(mallometer_jvm_attach(), -ESRCH); /* Java frames are configured, but there is no JVM */
}

/* ---- Limits of stacks and sites ----------------------------------------------------------------------- */

static NOINLINE void *deep(unsigned depth) {
  void *object = depth > 0 ? deep(depth - 1) : keeper(77);
  USE(object);
  return object;
}

static int longest_stack(void) {
  int longest = 0;
  for (uint32_t site = 0; site < self().call_sites; site++) {
    uint64_t frames[640];
    int count = mallometer_site_stack(site, frames, 640);
    if (count <= longest) continue;
    longest = count;
    CHECK(is_in(frames[0], (const void *)(uintptr_t)keeper));
  }
  return longest;
}

/* A stack deeper than the limit is cut to the limit and counted in samples_truncated. A stack of exactly the limit is
 * complete. */
static void deep_stacks_are_cut_and_counted(void) {
  free(deep(50));
  unsigned deepest = 50 + MOST_NATIVE_FRAMES - (unsigned)longest_stack();
  free(deep(deepest));
  CHECK_EQUAL(longest_stack(), MOST_NATIVE_FRAMES);
  CHECK_EQUAL(self().samples_truncated, 0);
  free(deep(deepest + 1));
  CHECK_EQUAL(self().samples_truncated, 1);
  free(deep(200));
  CHECK_EQUAL(self().samples_truncated, 2);
  CHECK_EQUAL(longest_stack(), MOST_NATIVE_FRAMES);
}

static NOINLINE void *left(uint64_t path, unsigned depth);

static NOINLINE void *right(uint64_t path, unsigned depth) {
  void *object = depth == 0 ? keeper(55) : path & 1 ? left(path >> 1, depth - 1) : right(path >> 1, depth - 1);
  USE(object);
  return object;
}

static NOINLINE void *left(uint64_t path, unsigned depth) {
  void *object = depth == 0 ? keeper(55) : path & 1 ? left(path >> 1, depth - 1) : right(path >> 1, depth - 1);
  USE(object);
  return object;
}

/* Allocates and frees from `stacks` random call stacks, which have `depths` different depths and differ already near
 * main(). Returns the library's report. */
static struct mallometer_report part_near_main(unsigned stacks, unsigned depths) {
  uint64_t path = 88172645463325252u;
  for (unsigned i = 0; i < stacks; i++) {
    path = path * 6364136223846793005u + 1442695040888963407u;
    free(right(path ^ path >> 32, 100 - i % depths));
  }
  struct mallometer_report report = self();
  printf("%u sites, %" PRIu64 " samples without\n", report.call_sites, report.samples_without_site);
  return report;
}

/* Returns the number of samples of keeper() whose stacks were cut. Cut stacks have at most 8 frames; complete ones
 * are deeper. */
static uint64_t samples_cut_by_crowd(void) {
  uint64_t cut = 0;
  int count = mallometer_sites(sites, MOST_SITES, 0);
  for (int i = 0; i < count; i++) {
    if (sites[i].frames <= 8 && is_of_keeper(sites[i].number)) cut += sites[i].allocated.samples;
  }
  return cut;
}

/* Stacks that differ already near main() fill the tree of stacks quickly. Before it is full, the library must cut
 * stacks to fewer frames and count their samples in samples_truncated. */
static void crowded_stacks_are_cut(void) {
  static void *kept[10];
  setbuf(stdout, NULL); /* prevents the allocation of a buffer */
  CHECK_EQUAL(self().samples_truncated, 0);
  for (int i = 0; i < 10; i++) {
    kept[i] = right(0, 100);
    if (i > 0) continue;
    struct mallometer_report report = part_near_main(5000, 1);
    CHECK(report.call_sites > 1000 && report.call_sites < 3000);
    CHECK_EQUAL(report.samples_without_site, 0);
  }
  CHECK_EQUAL(live_bytes_of_keeper(), 10 * unit_size(kept[0]));
  uint64_t frames[640];
  CHECK_EQUAL(mallometer_site_stack(self().call_sites - 1, frames, 640), 8);
  CHECK(samples_cut_by_crowd() > 1000);
  CHECK_EQUAL(self().samples_truncated, samples_cut_by_crowd());
  for (int i = 0; i < 10; i++) free(kept[i]);
  CHECK_EQUAL(live_bytes_of_keeper(), 0);
}

/* The table of call sites is filled by many sites with one small sample each. A later site with larger objects must
 * still find room. */
static void large_ones_find_room(void) {
  static void *kept[20];
  struct mallometer_report report = part_near_main(300000, 40);
  CHECK(report.call_sites > 1000 && report.call_sites < 2000);
  CHECK(report.samples_without_site > 1000);
  for (int i = 0; i < 20; i++) kept[i] = keeper(50000);
  double live = live_bytes_of_keeper();
  CHECK(live > 0.8 * 20 * 50000 && live < 1.2 * 20 * 50000);
  for (int i = 0; i < 20; i++) free(kept[i]);
}

/* ---- Forks -------------------------------------------------------------------------------------------- */

static volatile int stop;

static void *churn(void *unused) {
  while (!stop) {
    for (unsigned path = 0; path < 64; path++) free(right(path, 6));
  }
  return unused;
}

static void in_child(void *kept) {
  double before = live_bytes_of_keeper();
  void *own = keeper(1000);
  CHECK_EQUAL(live_bytes_of_keeper(), before + (double)unit_size(own));
  before -= (double)unit_size(kept);
  free(kept);
  free(own);
  CHECK_EQUAL(live_bytes_of_keeper(), before);
  CHECK_EQUAL(mallometer_jvm_attach(), -ESRCH);
}

/* Forks while other threads record samples. The child does not have these threads, so it must not wait for them, and
 * it must record samples itself. Samples that were being recorded at the fork may be missing. */
static void children_go_on_recording(void) {
  pthread_t threads[3];
  void *kept = keeper(500);
  for (int i = 0; i < 3; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, churn, NULL), 0);
  for (int i = 0; i < 50; i++) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      alarm(20); /* ends a child that hangs */
      in_child(kept);
      _exit(0);
    }
    int status = 0;
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  free(kept);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  const char *what = argv[1];
  if (strcmp(what, "modules") == 0) modules_outlive_the_libraries(argv[2]);
  if (strcmp(what, "many_modules") == 0) frames_without_room_for_a_module_are_counted(argv[2]);
  if (strcmp(what, "come_and_go") == 0) libraries_come_and_go(argv[2]);
  if (strcmp(what, "objects") == 0) objects_have_ages_until_they_are_freed();
  if (strcmp(what, "interval") == 0) the_interval_changes_at_run_time();
  if (strcmp(what, "exact") == 0) an_interval_of_one_stays();
  if (strcmp(what, "past") == 0) an_address_has_one_object();
  if (strcmp(what, "off") == 0) samples_end_while_counting_is_off();
  if (strcmp(what, "no_jvm") == 0) there_is_no_jvm(argv[2]);
  if (strcmp(what, "defaults") == 0) call_sites_are_recorded_by_default();
  if (strcmp(what, "deep") == 0) deep_stacks_are_cut_and_counted();
  if (strcmp(what, "crowded") == 0) crowded_stacks_are_cut();
  if (strcmp(what, "room") == 0) large_ones_find_room();
  if (strcmp(what, "forks") == 0) children_go_on_recording();
  return 0;
}
