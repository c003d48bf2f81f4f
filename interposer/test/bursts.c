/* Tests burst_look(), which describes a fast rise of memory. The test replaces the library's clocks, memory readings,
 * call sites, samples and names. Each case runs in a process of its own, because a rise leaves state behind. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "control/burst.h"
#include "control/burst_line.h"
#include "jvm/attach.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "sample/call_sites.h"
#include "sample/latest_samples.h"
#include "sample/stack_tree.h"

#define MIB ((uint64_t)1 << 20)
#define MS UINT64_C(1000000)
#define LIMIT (1024 * MIB) /* the process's memory limit; the library then describes rises of 64 MiB or more */
#define MOST_PLACES 16u

static uint64_t now_ns = 1000000000, cpu_ns, used = 100 * MIB, sampled, live[MOST_PLACES];
static uint32_t places = 1, frames_of_a_site = 2, first_method, reads_of_names, reads_of_sites, questions;
static size_t name_bytes = 4;

size_t memory_page_bytes(void) { return 4096; }
uint64_t monotonic_ns(void) { return now_ns; }
uint64_t thread_cpu_ns(void) { return cpu_ns; }
struct process_memory process_memory(void) {
  return (struct process_memory){.anonymous = used};
}
uint64_t memory_charged(const struct memory_cgroup *cgroup) {
  (void)cgroup;
  return used;
}

bool call_sites_on(void) { return true; }
uint32_t call_sites_places(void) { return places; }
double call_site_live_bytes(uint32_t place, uint32_t *number) {
  reads_of_sites++;
  *number = place;
  return (double)live[place];
}
int call_site_stack(uint32_t number, uint64_t *frames, uint32_t capacity) {
  for (uint32_t i = 0; i < frames_of_a_site && i < capacity; i++) {
    frames[i] = java_frame(first_method + number * frames_of_a_site + i, 1);
  }
  return (int)frames_of_a_site;
}

void latest_samples_keep(void) {}
uint64_t latest_samples_count(void) { return sampled / MIB; }
uint64_t latest_samples_bytes(void) { return sampled; }
bool latest_sample_read(uint64_t number, struct latest_sample *to) {
  *to = (struct latest_sample){.number = number, .bytes = 1, .site = 0, .thread = 77};
  return true;
}
void thread_name_of(uint32_t id, char name[THREAD_NAME_BYTES]) {
  reads_of_names++;
  snprintf(name, THREAD_NAME_BYTES, "thread-%" PRIu32, id);
}

int jvm_describe_method(uint32_t number, struct mallometer_method *out) {
  questions++;
  snprintf(out->class_signature, sizeof out->class_signature, "LC;");
  memset(out->name, 'm', name_bytes);
  snprintf(out->source, sizeof out->source, "%" PRIu32, number);
  return 0;
}

/* ---- Steps of the cases -------------------------------------------------------------------------------- */

static struct memory_reading reading = {.limit_bytes = LIMIT, .charged_bytes = 100 * MIB};

static const struct recording_burst *look(void) { return burst_look(NULL, &reading, now_ns); }

static void quiet_seconds(unsigned seconds) {
  for (unsigned i = 0; i < seconds; i++) {
    burst_second(&reading);
    now_ns += 1000 * MS;
  }
  burst_second(&reading);
}

static const struct recording_burst *rise(uint64_t bytes, uint64_t of_site) {
  used += bytes;
  sampled += bytes;
  live[0] += of_site;
  now_ns += 5 * MS;
  return look();
}

/* ---- Cases --------------------------------------------------------------------------------------------- */

static void a_rise_is_described(void) {
  quiet_seconds(2);
  CHECK(!rise(40 * MIB, 40 * MIB));
  const struct recording_burst *burst = rise(40 * MIB, 40 * MIB);
  CHECK(burst);
  CHECK_EQUAL(burst->sites, 1);
  CHECK_EQUAL(burst->grown[0].live_bytes, 80 * MIB);
  CHECK(strcmp(burst->grown[0].thread_name, "thread-77") == 0);
  CHECK_EQUAL(burst_pause_ns(), 5 * MS);
}

static void a_rise_begins_with_its_first_samples(void) {
  quiet_seconds(2);
  CHECK(!rise(2 * MIB, 2 * MIB));
  uint64_t begin = now_ns;
  for (int i = 0; i < 6; i++) CHECK(!rise(9 * MIB, 9 * MIB));
  const struct recording_burst *burst = rise(9 * MIB, 9 * MIB);
  CHECK(burst);
  CHECK_EQUAL(burst->begin_monotonic_ns, begin);
}

static void fast_samples_are_followed_by_a_look_soon(void) {
  quiet_seconds(2);
  CHECK(!rise(5 * MIB, 5 * MIB));
  CHECK_EQUAL(burst_pause_ns(), 100 * MS);
  CHECK(!rise(8 * MIB, 8 * MIB));
  CHECK_EQUAL(burst_pause_ns(), 5 * MS);
  CHECK(!rise(1 * MIB, 1 * MIB));
  CHECK_EQUAL(burst_pause_ns(), 100 * MS);
  /* Samples of memory that was freed again do not shorten the pause between looks. */
  sampled += 90 * MIB;
  CHECK(!look());
  CHECK_EQUAL(burst_pause_ns(), 100 * MS);
}

static void memory_that_rests_has_a_baseline_every_ten_seconds(void) {
  quiet_seconds(2);
  reads_of_sites = 0;
  quiet_seconds(20);
  CHECK_EQUAL(reads_of_sites, 2);
  sampled += MIB;
  quiet_seconds(2);
  CHECK_EQUAL(reads_of_sites, 3);
  used -= MIB;
  quiet_seconds(2);
  CHECK_EQUAL(reads_of_sites, 4);
}

static void a_costly_look_has_a_long_pause_after_it(void) {
  quiet_seconds(2);
  CHECK(rise(80 * MIB, 80 * MIB));
  cpu_ns += MS / 4;
  CHECK_EQUAL(burst_pause_ns(), 10 * MS);
  cpu_ns += 100 * MS;
  CHECK_EQUAL(burst_pause_ns(), 40 * (100 * MS + MS / 4));
}

static void the_name_of_a_thread_is_read_once(void) {
  quiet_seconds(2);
  for (int i = 0; i < 20; i++) rise(80 * MIB, 80 * MIB);
  CHECK_EQUAL(reads_of_names, 1);
}

static void a_rise_of_something_else_is_not_described(void) {
  quiet_seconds(2);
  CHECK(!rise(80 * MIB, 10 * MIB));
  CHECK_EQUAL(burst_pause_ns(), 50 * MS);
  CHECK(rise(80 * MIB, 80 * MIB)); /* a rise is described only if call sites allocated a quarter of it */
  CHECK_EQUAL(burst_pause_ns(), 5 * MS);
}

static void nothing_is_written_at_the_end_of_such_a_rise(void) {
  quiet_seconds(2);
  CHECK(!rise(80 * MIB, 0));
  used -= 80 * MIB;
  CHECK(!look());
  CHECK(rise(80 * MIB, 80 * MIB));
  used -= 80 * MIB;
  const struct recording_burst *freed = look();
  CHECK(freed);
  CHECK_EQUAL(freed->sites, 0);
}

static char text[12000];

static bool has_name_of(uint32_t method) {
  char source[20];
  snprintf(source, sizeof source, "\t%" PRIu32 "\t", method);
  return strstr(text, source);
}

/* Returns the length of the names that burst_names() writes after each of `sites` call sites has allocated 80 MiB. */
static size_t name_a_rise_at(uint32_t sites) {
  places = sites;
  for (uint32_t i = 1; i < sites; i++) live[i] += 80 * MIB;
  CHECK(rise(80 * MIB, 80 * MIB));
  memset(text + burst_names(text, sizeof text), 0, 1);
  return strlen(text);
}

static void each_frame_is_asked_for_once(void) {
  quiet_seconds(2);
  CHECK(name_a_rise_at(3) > 0);
  CHECK_EQUAL(questions, 6);
  CHECK_EQUAL(burst_names(text, sizeof text), 0);
  name_a_rise_at(4);
  CHECK_EQUAL(questions, 8);
}

static void the_innermost_frames_are_named_first(void) {
  frames_of_a_site = 20;
  name_bytes = 100;
  quiet_seconds(2);
  CHECK(name_a_rise_at(16) > sizeof text / 2);
  for (uint32_t site = 0; site < 16; site++) {
    for (uint32_t frame = 0; frame < 5; frame++) CHECK(has_name_of(site * 20 + frame));
  }
  uint32_t before = questions;
  for (int i = 0; i < 10; i++) CHECK_EQUAL(burst_names(text, sizeof text), 0);
  CHECK_EQUAL(questions, before);
}

static void later_sites_find_room(void) {
  name_bytes = 200;
  frames_of_a_site = 20;
  quiet_seconds(2);
  CHECK(name_a_rise_at(2) > 0);
  CHECK(has_name_of(0));
  first_method = 1000; /* gives the sites other methods, as if other call sites grew now */
  CHECK(name_a_rise_at(2) > 0);
  CHECK(has_name_of(1000) && has_name_of(1020));
  CHECK(!has_name_of(0));
}

static void cached_files_leave_room(void) {
  reading.charged_bytes = 1000 * MIB;
  reading.file_bytes = 800 * MIB;
  CHECK(burst_leaves_room(&reading));
  reading.file_bytes = 100 * MIB;
  CHECK(!burst_leaves_room(&reading));
  reading.file_bytes = RECORDING_UNKNOWN;
  CHECK(!burst_leaves_room(&reading));
  reading.charged_bytes = 700 * MIB;
  CHECK(burst_leaves_room(&reading));
  reading.charged_bytes = 1000 * MIB;
  reading.limit_bytes = RECORDING_UNKNOWN;
  CHECK(burst_leaves_room(&reading));
}

/* ---- The line of the termination message -------------------------------------------------------------- */

static char line[400];

static struct recording_burst *site(uint64_t outer, uint64_t inner, uint64_t bytes) {
  static struct recording_burst burst;
  burst.begin_monotonic_ns = now_ns - 350 * MS;
  burst.begin_bytes = 100 * MIB;
  burst.charged_bytes = 300 * MIB;
  burst.grown[burst.sites++] = (struct recording_grown){.live_bytes = bytes, .frames = 2, .stack = {inner, outer}};
  return &burst;
}

static void says(const struct recording_burst *burst, const char *names, const char *expected) {
  burst_line(burst, names, line, sizeof line);
  if (strcmp(line, expected) != 0) printf("\"%s\"\n", line);
  CHECK(strcmp(line, expected) == 0);
}

#define BUFFERS "0000000000000001\tLcom/shop/Buffers;\tgrab\tBuffers.java\t7\n"
#define UNSAFE "0000000000000002\tLjdk/internal/misc/Unsafe;\tallocateMemory\tUnsafe.java\t632\n"
#define CART "0000000000000003\tLcom/shop/Cart$Line;\tzip\tsrc/com/shop/Cart.java\t12\n"
#define LAMBDA "0000000000000004\tLcom/shop/Cart$$Lambda/0x01;\trun\t\t0\n"

static void the_innermost_line_outside_of_the_jdk_is_named(void) {
  struct recording_burst *burst = site(1, 2, 150 * MIB);
  says(burst, UNSAFE BUFFERS, "in the last 0.3 s Buffers.grab (Buffers.java:7) allocated 150 MiB");
  says(burst, BUFFERS UNSAFE CART, "in the last 0.3 s Buffers.grab (Buffers.java:7) allocated 150 MiB");
  says(burst, UNSAFE "0000000000000001\tLMain;\trun\t\t0\n", "in the last 0.3 s Main.run allocated 150 MiB");
}

static void without_a_name_the_rise_is_stated(void) {
  struct recording_burst *burst = site(1, 2, 150 * MIB);
  says(burst, "", "in the last 0.3 s memory grew by 200 MiB");
  says(burst, BUFFERS, "in the last 0.3 s memory grew by 200 MiB"); /* the innermost frame has no name */
  says(burst, UNSAFE, "in the last 0.3 s memory grew by 200 MiB");
  burst->grown[0].live_bytes = 49 * MIB;
  says(burst, UNSAFE BUFFERS, "in the last 0.3 s memory grew by 200 MiB");
}

static void the_sites_of_a_method_are_added_up(void) {
  site(3, 4, 70 * MIB);
  site(1, 2, 60 * MIB);
  struct recording_burst *burst = site(2, 1, 50 * MIB);
  says(burst, UNSAFE CART LAMBDA BUFFERS, "in the last 0.3 s Buffers.grab (Buffers.java:7) allocated 110 MiB");
  burst->grown[0].live_bytes = 120 * MIB;
  says(burst, UNSAFE CART LAMBDA BUFFERS, "in the last 0.3 s Cart$Line.zip (Cart.java:12) allocated 120 MiB");
}

/* burst_line() names the method that the JVM's compiler is compiling, even a method of the JDK. The compiled method
 * does not run, so it has no line number. */
static void a_compiled_method_is_named_as_one(void) {
  const uint64_t compiled = compiled_frame(5), running = java_frame(5, 0);
  char names[200];
  snprintf(names, sizeof names, "%016" PRIx64 "\tLjava/util/HashMap;\tput\tHashMap.java\t0\n" BUFFERS, compiled);
  says(site(1, compiled, 150 * MIB), names, "in the last 0.3 s compilation of HashMap.put allocated 150 MiB");
  CHECK(!has_bytecode(compiled) && has_bytecode(running) && !is_compiled_frame(java_frame(5, 0xfffe)));
}

static void long_names_are_cut(void) {
  static char names[2000];
  memset(names, 'x', sizeof names - 1);
  memcpy(names, "0000000000000002\tL", 18);
  names[900] = names[1200] = '\t';
  memcpy(names + 1600, "\t5\n", 4);
  burst_line(site(1, 2, 150 * MIB), names, line, sizeof line);
  CHECK(strstr(line, " allocated 150 MiB"));
  CHECK(strlen(line) < 300);
  burst_line(site(1, 2, 150 * MIB), names, line, 30);
  CHECK_EQUAL(strlen(line), 29);
}

int main(void) {
  static void (*const cases[])(void) = {
      a_rise_is_described,
      a_rise_begins_with_its_first_samples,
      fast_samples_are_followed_by_a_look_soon,
      memory_that_rests_has_a_baseline_every_ten_seconds,
      a_costly_look_has_a_long_pause_after_it,
      the_name_of_a_thread_is_read_once,
      a_rise_of_something_else_is_not_described,
      nothing_is_written_at_the_end_of_such_a_rise,
      each_frame_is_asked_for_once,
      the_innermost_frames_are_named_first,
      later_sites_find_room,
      cached_files_leave_room,
      the_innermost_line_outside_of_the_jdk_is_named,
      without_a_name_the_rise_is_stated,
      the_sites_of_a_method_are_added_up,
      a_compiled_method_is_named_as_one,
      long_names_are_cut,
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
      cases[i]();
      return 0;
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    if (status != 0) printf("case %zu failed\n", i + 1);
    CHECK_EQUAL(status, 0);
  }
  return 0;
}
