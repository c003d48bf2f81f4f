/* Tests the recording, a file that survives the end of the process. The test starts itself as a child that records,
 * reads the child's file, and ends the child in different ways. Each case uses a directory of its own. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "control/recording_format.h"

#define SKIPPED 77

static const char *program;
static char directory[] = "/tmp/mallometer-recording-XXXXXX";
static char path[256];

/* ---- Reading a file ----------------------------------------------------------------------------------- */

static struct recording_header header_of(const char *file) {
  struct recording_header header = {.life = 0};
  int descriptor = open(file, O_RDONLY);
  CHECK(descriptor >= 0);
  CHECK_EQUAL(pread(descriptor, &header, sizeof header, 0), sizeof header);
  close(descriptor);
  CHECK(memcmp(header.magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC) == 0);
  CHECK_EQUAL(header.format, RECORDING_FORMAT);
  CHECK_EQUAL(header.checksum, recording_checksum(0, &header, offsetof(struct recording_header, checksum)));
  return header;
}

/* Returns the number of complete records of a region of the file, and copies the latest record. */
static int records_of(const char *file, int region, struct recording_sample *latest) {
  struct recording_header header = header_of(file);
  int descriptor = open(file, O_RDONLY), whole = 0;
  latest->sequence = 0;
  for (uint32_t slot = 0; slot < header.regions[region].slots; slot++) {
    struct recording_sample record;
    off_t at = (off_t)(header.regions[region].offset + (uint64_t)slot * header.regions[region].slot_bytes);
    CHECK_EQUAL(pread(descriptor, &record, sizeof record, at), sizeof record);
    if (!record.sequence) continue;
    if (record.length != sizeof record || record.checksum != recording_checksum(0, &record.length, sizeof record - 4))
      continue;
    whole++;
    if (record.sequence > latest->sequence) *latest = record;
  }
  close(descriptor);
  return whole;
}

enum { SECONDS = 0, EXIT = 3, SHUTDOWN, JVM, MINUTES, EXCEEDED, PROFILES, BURST };

/* A record that the library has written for a caller of mallometer_recording_write(). */
struct handed {
  struct recording_sample frame;
  char content[RECORDING_PROFILE_BYTES];
};

enum reading { EMPTY, TORN, WHOLE };

static enum reading read_handed(int region, uint32_t slot, struct handed *record) {
  static char bytes[RECORDING_PROFILE_BYTES];
  struct recording_region ring = header_of(path).regions[region];
  int descriptor = open(path, O_RDONLY);
  off_t at = (off_t)(ring.offset + (uint64_t)slot * ring.slot_bytes);
  CHECK_EQUAL(pread(descriptor, bytes, ring.slot_bytes, at), ring.slot_bytes);
  close(descriptor);
  memcpy(&record->frame, bytes, RECORDING_FRAME_BYTES);
  if (!record->frame.sequence && !record->frame.checksum) return EMPTY;
  uint32_t length = record->frame.length;
  if (length < RECORDING_FRAME_BYTES || length > ring.slot_bytes) return TORN;
  if (record->frame.checksum != recording_checksum(0, bytes + 4, length - 4)) return TORN;
  memcpy(record->content, bytes + RECORDING_FRAME_BYTES, length - RECORDING_FRAME_BYTES);
  return WHOLE;
}

static int seconds_of(const char *file, struct recording_sample *latest) { return records_of(file, SECONDS, latest); }

/* ---- Children ----------------------------------------------------------------------------------------- */

static pid_t start_child(const char *what) {
  pid_t child = fork();
  if (child == 0) {
    setenv("MALLOMETER_RECORDING", path, 1);
    setenv("MALLOMETER_ONLY", "recording", 1);
    execl(program, "recording", what, directory, (char *)NULL);
    _exit(126);
  }
  return child;
}

static int status_of(pid_t child) {
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return status;
}

static int run_child(const char *what) {
  int status = status_of(start_child(what));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void pause_ms(long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void await_samples(int enough) {
  struct recording_sample latest;
  for (int i = 0; i < 600; i++) {
    if (access(path, R_OK) == 0 && seconds_of(path, &latest) >= enough) return;
    pause_ms(100);
  }
  CHECK(!"too few samples were written in a minute");
}

static struct mallometer_recording_status recording(void) {
  struct mallometer_recording_status now = {0};
  CHECK_EQUAL(mallometer_recording(&now), 0);
  return now;
}

static void hold_memory_for_ever(void) {
  for (size_t i = 0; i < 1000; i++) USE(malloc(10000));
  for (;;) pause();
}

/* ---- Records that the program passes to the library ---------------------------------------------------- */

static char text[2 * RECORDING_PROFILE_BYTES];

static void refuses_what_has_no_place(void) {
  const uint32_t longest = RECORDING_PROFILE_BYTES - RECORDING_FRAME_BYTES;
  CHECK_EQUAL(mallometer_recording_write(0, 0, "a\n", 2), -EINVAL);
  CHECK_EQUAL(mallometer_recording_write(RECORDING_SAMPLES, 0, "a\n", 2), -EINVAL);
  CHECK_EQUAL(mallometer_recording_write(RECORDING_EXIT, 0, "a\n", 2), -EINVAL);
  CHECK_EQUAL(mallometer_recording_write(RECORDING_PROFILES + 1, 0, "a\n", 2), -EINVAL);
  CHECK_EQUAL(mallometer_recording_write(RECORDING_JVM, 0, NULL, 2), -EINVAL);
  CHECK_EQUAL(mallometer_recording_write(RECORDING_JVM, 85, "a\n", 2), -EINVAL);
  CHECK_EQUAL(mallometer_recording_write(RECORDING_PROFILES, 80, "a\n", 2), -EINVAL);
  CHECK_EQUAL(mallometer_recording_write(RECORDING_PROFILES, 85, text, longest + 1), -EMSGSIZE);
  struct handed record;
  for (uint32_t slot = 0; slot < 5; slot++) CHECK_EQUAL(read_handed(PROFILES, slot, &record), EMPTY);
  CHECK_EQUAL(read_handed(JVM, 0, &record), EMPTY);
}

static void texts_are_cut_after_a_line(void) {
  const uint32_t room = RECORDING_DOCUMENT_BYTES - RECORDING_FRAME_BYTES;
  static const char line[] = "site\t\xe4\xb8\x96\t1234\n"; /* 14 bytes; one of the characters takes 3 */
  struct handed record;
  for (uint32_t at = 0; at + 14 <= sizeof text; at += 14) memcpy(text + at, line, 14);
  for (uint32_t length = room - 15; length <= room; length++) {
    CHECK_EQUAL(mallometer_recording_write(RECORDING_JVM, 0, text, length), length);
  }
  for (uint32_t length = room + 1; length <= room + 15; length++) {
    CHECK_EQUAL(mallometer_recording_write(RECORDING_JVM, 0, text, length), room / 14 * 14);
    CHECK_EQUAL(read_handed(JVM, 0, &record), WHOLE);
    CHECK_EQUAL(record.frame.length, RECORDING_FRAME_BYTES + room / 14 * 14);
    CHECK(memcmp(record.content, text, room / 14 * 14) == 0);
  }
  memset(text, 'x', sizeof text); /* a text of one line, which is too long */
  CHECK_EQUAL(mallometer_recording_write(RECORDING_JVM, 0, text, sizeof text), 0);
  CHECK_EQUAL(read_handed(JVM, 0, &record), WHOLE);
}

static void records_lie_where_they_belong(void) {
  const uint32_t longest = RECORDING_PROFILE_BYTES - RECORDING_FRAME_BYTES;
  const uint64_t before = snapshot().monotonic_ns;
  struct handed record;
  for (int i = 1; i <= 61; i++) {
    char minute[20];
    int length = snprintf(minute, sizeof minute, "minute\t%d\n", i);
    CHECK_EQUAL(mallometer_recording_write(RECORDING_MINUTES, 0, minute, (uint32_t)length), length);
  }
  CHECK_EQUAL(read_handed(MINUTES, 0, &record), WHOLE);
  CHECK_EQUAL(record.frame.sequence, 61);
  CHECK_EQUAL(record.frame.kind, RECORDING_RECORD_TEXT);
  CHECK(record.frame.monotonic_ns >= before && record.frame.monotonic_ns <= snapshot().monotonic_ns);
  CHECK(memcmp(record.content, "minute\t61\n", 10) == 0);
  CHECK_EQUAL(read_handed(MINUTES, 59, &record), WHOLE);
  CHECK_EQUAL(record.frame.sequence, 60);
  /* Writes profiles. A profile of a peak has the percentage 0. The other profiles have the percentage of the limit
   * that was exceeded. The file must keep the two latest profiles of peaks, and the latest profile of each
   * percentage. */
  static const uint32_t percents[] = {0, 85, 0, 95, 0, 90, 85};
  for (uint32_t i = 0; i < sizeof percents / sizeof *percents; i++) {
    memset(text, 'a' + (int)i, longest);
    CHECK_EQUAL(mallometer_recording_write(RECORDING_PROFILES, percents[i], text, longest), longest);
  }
  static const char *const written = "cegfd";
  static const uint32_t percents_of[] = {0, 0, 85, 90, 95};
  for (uint32_t slot = 0; slot < 5; slot++) {
    CHECK_EQUAL(read_handed(PROFILES, slot, &record), WHOLE);
    CHECK_EQUAL(record.frame.kind, RECORDING_RECORD_PROFILE);
    CHECK_EQUAL(record.frame.flags, percents_of[slot]);
    CHECK_EQUAL(record.content[0], written[slot]);
    CHECK_EQUAL(record.content[longest - 1], record.content[0]);
  }
  CHECK_EQUAL(mallometer_recording_write(RECORDING_SHUTDOWN, 0, NULL, 0), 0);
  CHECK_EQUAL(read_handed(SHUTDOWN, 0, &record), WHOLE);
  CHECK_EQUAL(record.frame.kind, RECORDING_RECORD_SHUTDOWN);
  CHECK_EQUAL(record.frame.length, RECORDING_FRAME_BYTES);
}

static void write_minutes(char letter, int times, int *busy) {
  char minute[10000];
  memset(minute, letter, sizeof minute);
  for (int i = 0; i < times;) {
    int result = mallometer_recording_write(RECORDING_MINUTES, 0, minute, sizeof minute);
    CHECK(result == sizeof minute || result == -EBUSY);
    if (result == -EBUSY) {
      ++*busy;
      sched_yield();
    } else {
      i++;
    }
  }
}

static void *write_beside(void *busy) {
  write_minutes('b', 2000, busy);
  return NULL;
}

static bool is_of_one_letter(const struct handed *record) {
  uint32_t length = record->frame.length - RECORDING_FRAME_BYTES;
  for (uint32_t i = 1; i < length; i++) {
    if (record->content[i] != record->content[0]) return false;
  }
  return true;
}

static void two_threads_write(void) {
  pthread_t other;
  int busy = 0, busy_beside = 0;
  struct handed record;
  CHECK_EQUAL(pthread_create(&other, NULL, write_beside, &busy_beside), 0);
  write_minutes('a', 2000, &busy);
  CHECK_EQUAL(pthread_join(other, NULL), 0);
  printf("refused %d times\n", busy + busy_beside);
  for (uint32_t slot = 0; slot < 60; slot++) {
    CHECK_EQUAL(read_handed(MINUTES, slot, &record), WHOLE);
    CHECK(is_of_one_letter(&record));
  }
}

/* ---- Fast rises of memory ------------------------------------------------------------------------------ */

#define MIB ((uint64_t)1 << 20)
#define MOST_BURST_BYTES (800 * MIB)

/* Returns three times the smallest rise of memory that is recorded: a 16th of the memory limit, but at least 8 MiB;
 * without a limit, 64 MiB. */
static uint64_t burst_bytes(void) {
  struct recording_sample latest;
  await_samples(2);
  seconds_of(path, &latest);
  if (latest.limit_bytes == RECORDING_UNKNOWN) return 3 * 64 * MIB;
  return 3 * (latest.limit_bytes / 16 > 8 * MIB ? latest.limit_bytes / 16 : 8 * MIB);
}

static void take_a_burst(void) {
  uint64_t bytes = burst_bytes();
  if (bytes > MOST_BURST_BYTES) return;
  for (uint64_t taken = 0; taken < bytes; taken += 65536) memset(malloc(65536), 1, 65536);
}

/* ---- The termination message, without a recording ------------------------------------------------------- */

static ssize_t message_of(char *text, size_t capacity) {
  char file[300];
  snprintf(file, sizeof file, "%s/message", directory);
  int descriptor = open(file, O_RDONLY);
  CHECK(descriptor >= 0);
  memset(text, 0, capacity);
  ssize_t length = pread(descriptor, text, capacity - 1, 0);
  close(descriptor);
  return length;
}

static void make_message_file(void) {
  char file[300];
  snprintf(file, sizeof file, "%s/message", directory);
  int made = open(file, O_CREAT | O_TRUNC | O_WRONLY, 0666);
  CHECK(made >= 0);
  close(made);
}

static void start_message(void) {
  char file[300];
  snprintf(file, sizeof file, "%s/message", directory);
  make_message_file();
  CHECK_EQUAL(mallometer_message_start(file), 0);
  CHECK_EQUAL(mallometer_message_sentence("The cause is known", 18), 0);
}

/* Waits for a message in the file if `wanted` is true, otherwise for an empty file. Returns false after `longest`
 * seconds. */
static bool await_message(bool wanted, double longest) {
  char text[2000];
  for (double end = seconds() + longest; seconds() < end; pause_ms(10)) {
    if ((message_of(text, sizeof text) > 0) == wanted) return true;
  }
  return false;
}

static void rise_by(void *objects[], size_t count) {
  for (size_t i = 0; i < count; i++) memset(objects[i] = malloc(65536), 1, 65536);
}

static void free_all(void *objects[], size_t count) {
  for (size_t i = 0; i < count; i++) free(objects[i]);
}

/* ---- A limit of 512 MiB, of which cached files take 200 MiB ---------------------------------------------- */

#define GROUP "TEST_GROUP"

static bool write_text(const char *folder, const char *name, const char *text) {
  char file[300];
  snprintf(file, sizeof file, "%s/%s", folder, name);
  int descriptor = open(file, O_WRONLY);
  bool is_written = descriptor >= 0 && write(descriptor, text, strlen(text)) > 0;
  if (descriptor >= 0) close(descriptor);
  return is_written;
}

/* Makes a memory cgroup (version 1 or 2) with a limit of 512 MiB. Returns false if the process lacks the rights. */
static bool make_group(char *group, size_t capacity) {
  bool is_first = access("/sys/fs/cgroup/memory/memory.limit_in_bytes", F_OK) == 0;
  snprintf(group, capacity, "/sys/fs/cgroup/%smallometer-test-%d", is_first ? "memory/" : "", getpid());
  if (mkdir(group, 0755) != 0) return false;
  if (write_text(group, is_first ? "memory.limit_in_bytes" : "memory.max", "536870912")) return true;
  rmdir(group);
  return false;
}

static void enter_group(void) {
  char pid[20];
  snprintf(pid, sizeof pid, "%d", getpid());
  CHECK(write_text(getenv(GROUP), "cgroup.procs", pid));
}

/* Writes a file of 200 MiB. The kernel charges its cached pages to this process's cgroup. */
static void fill_the_cache(void) {
  static char bytes[1 << 20];
  char file[300];
  snprintf(file, sizeof file, "%s/cached", directory);
  int descriptor = open(file, O_CREAT | O_WRONLY, 0600);
  for (int i = 0; i < 200; i++) CHECK_EQUAL(write(descriptor, bytes, sizeof bytes), sizeof bytes);
  close(descriptor);
}

/* Lets memory rise by 192 MiB. The file must describe the rise. `end` is the name of the case, which determines what
 * happens after the rise. */
static int message_of_a_rise(const char *end) {
  enum { MOST = 3072 };
  static void *objects[MOST];
  char text[2000];
  alarm(60);
  if (strcmp(end, "message_share") == 0) {
    enter_group();
    fill_the_cache();
  }
  start_message();
  /* Repeats the rise until the file has a message, because the library finds only rises that begin after its first
   * reading of memory. */
  for (rise_by(objects, MOST); !await_message(true, 3); rise_by(objects, MOST)) free_all(objects, MOST);
  CHECK_EQUAL(message_of(text, sizeof text), 1024);
  CHECK(strncmp(text, "mallometer at ", 14) == 0);
  CHECK(strstr(text, "; in the last ") && strstr(text, " s memory grew by ") && strstr(text, "The cause is known"));
  if (strcmp(end, "message_freed") == 0) {
    free_all(objects, MOST);
    CHECK(await_message(false, 30));
    return 0;
  }
  if (strcmp(end, "message_still") == 0) { /* Memory stays at its new level, but is not scarce. */
    CHECK(await_message(false, 30));
    return 0;
  }
  if (strcmp(end, "message_share") == 0) {
    unsigned share = 0;
    CHECK_EQUAL(sscanf(strstr(text, " UTC: "), " UTC: %u %% of the limit of 512 MiB are used", &share), 1);
    printf("%u %%\n", share);
    return share > 30 && share < 55 ? 0 : 1;
  }
  if (strcmp(end, "message_exit") == 0) exit(3);
  if (strcmp(end, "message_detached") == 0) {
    struct mallometer_message_status now;
    CHECK_EQUAL(mallometer_message_stop(), 0);
    CHECK_EQUAL(message_of(text, sizeof text), 0);
    CHECK_EQUAL(mallometer_message(&now), 0);
    CHECK_EQUAL(now.state, 0);
    pause_ms(1500); /* the thread that writes the message ends meanwhile */
    start_message();
    CHECK_EQUAL(mallometer_message(&now), 0);
    CHECK_EQUAL(now.state, 1);
    return 0;
  }
  for (;;) pause();
}

/* Forks after mallometer_message_stop(). The child calls mallometer_message_start() and must get a message about a
 * rise of its own memory. */
static int message_of_a_forked_child(void) {
  start_message();
  pause_ms(1500); /* lets the parent's recording thread watch for fast rises of memory */
  CHECK_EQUAL(mallometer_message_stop(), 0);
  pid_t child = fork();
  if (child == 0) exit(message_of_a_rise("message_exit"));
  return WEXITSTATUS(status_of(child));
}

static bool rises_are_too_large(void) {
  FILE *file = fopen("/sys/fs/cgroup/memory/memory.limit_in_bytes", "r");
  if (!file) file = fopen("/sys/fs/cgroup/memory.max", "r");
  double limit = 0;
  bool is_known = file && fscanf(file, "%lf", &limit) == 1;
  if (file) fclose(file);
  return is_known && limit > 0 && limit < 0x1p60 && (limit / 16 > 180.0 * 0x1p20 || limit < 600.0 * 0x1p20);
}

/* The message must state the used share of the cgroup's limit. Cached files do not count as used, because the kernel
 * can drop them. */
static int share(void) {
  char group[100];
  if (!make_group(group, sizeof group)) {
    puts("skipped: it needs root and memory cgroups");
    return SKIPPED;
  }
  path[0] = '\0'; /* switches the recording off */
  setenv(GROUP, group, 1);
  int code = run_child("message_share");
  for (int i = 0; i < 100 && rmdir(group) != 0; i++) pause_ms(50);
  return code;
}

static int message(void) {
  char text[2000];
  if (rises_are_too_large()) {
    puts("skipped: a rise of this limit takes too much memory");
    return SKIPPED;
  }
  path[0] = '\0'; /* switches the recording off */
  make_message_file();
  pid_t child = start_child("message_killed");
  CHECK(await_message(true, 60));
  kill(child, SIGKILL);
  CHECK_EQUAL(WTERMSIG(status_of(child)), SIGKILL);
  CHECK_EQUAL(message_of(text, sizeof text), 1024);
  CHECK_EQUAL(run_child("message_exit"), 3);
  CHECK_EQUAL(message_of(text, sizeof text), 0);
  CHECK_EQUAL(run_child("message_forked"), 3);
  CHECK_EQUAL(message_of(text, sizeof text), 0);
  CHECK_EQUAL(run_child("message_freed"), 0);
  CHECK_EQUAL(run_child("message_still"), 0);
  CHECK_EQUAL(run_child("message_detached"), 0);
  CHECK_EQUAL(message_of(text, sizeof text), 0);
  return 0;
}

/* Allocates and frees for half a second, in which the library looks for a rise several times. */
static void take_and_free(void) {
  for (double end = seconds() + 0.5; seconds() < end;) {
    void *object = malloc(65536);
    memset(object, 1, 65536);
    free(object);
  }
}

static bool rise_of(const char *file, struct recording_burst *latest) {
  struct recording_region ring = header_of(file).regions[BURST];
  uint64_t sequence = 0;
  int descriptor = open(file, O_RDONLY);
  for (uint32_t slot = 0; slot < ring.slots; slot++) {
    static char bytes[RECORDING_BURST_SLOT_BYTES];
    struct recording_sample frame;
    CHECK_EQUAL(pread(descriptor, bytes, sizeof bytes, (off_t)(ring.offset + slot * sizeof bytes)), sizeof bytes);
    memcpy(&frame, bytes, RECORDING_FRAME_BYTES);
    if (frame.sequence <= sequence) continue;
    if (frame.length != RECORDING_FRAME_BYTES + sizeof *latest) continue; /* an incomplete record */
    if (frame.checksum != recording_checksum(0, bytes + 4, frame.length - 4)) continue;
    CHECK_EQUAL(frame.kind, RECORDING_RECORD_BURST);
    sequence = frame.sequence;
    memcpy(latest, bytes + RECORDING_FRAME_BYTES, sizeof *latest);
  }
  close(descriptor);
  return sequence > 0;
}

static void write_for_ever(void) {
  alarm(60); /* ends the process if the test does not kill it */
  for (uint32_t i = 0;; i++) {
    memset(text, 'a' + (int)(i % 26), RECORDING_PROFILE_BYTES);
    CHECK(mallometer_recording_write(RECORDING_PROFILES, 85, text, 60000 + i % 10000) > 0);
    CHECK(mallometer_recording_write(RECORDING_JVM, 0, text, 10000 + i % 5000) > 0);
  }
}

static int as_child(const char *what) {
  if (strcmp(what, "writes") == 0) write_for_ever();
  if (strcmp(what, "handed") == 0) {
    refuses_what_has_no_place();
    texts_are_cut_after_a_line();
    records_lie_where_they_belong();
    two_threads_write();
    return 0;
  }
  if (strcmp(what, "hold") == 0) hold_memory_for_ever();
  if (strcmp(what, "burst") == 0) {
    alarm(60); /* ends the process if the test does not kill it */
    take_a_burst();
    for (;;) pause();
  }
  if (strcmp(what, "message_forked") == 0) return message_of_a_forked_child();
  if (strncmp(what, "message_", 8) == 0) return message_of_a_rise(what);
  if (strcmp(what, "churn") == 0) {
    await_samples(2);
    take_and_free();
    raise(SIGKILL);
  }
  if (strcmp(what, "refused") == 0) {
    struct mallometer_recording_status now = recording();
    puts(now.reason);
    return now.state == MALLOMETER_RECORDING_FAILED && snapshot().allocations[0] + 1 > 0 ? 0 : 1;
  }
  if (strcmp(what, "exit3") == 0) return 3;
  if (strcmp(what, "exit-1") == 0) exit(-1);
  if (strcmp(what, "fork") == 0) {
    pid_t child = fork();
    if (child == 0) {
      pause_ms(1500);
      CHECK_EQUAL(mallometer_recording_write(RECORDING_MINUTES, 0, "a\n", 2), -ENODATA);
      /* the child's exit, which must not be recorded as the parent's */
      exit(recording().state == MALLOMETER_RECORDING_FAILED ? 9 : 1);
    }
    CHECK_EQUAL(WEXITSTATUS(status_of(child)), 9);
    raise(SIGKILL);
  }
  if (strcmp(what, "count") == 0) {
    struct mallometer_counters start = snapshot();
    pause_ms(1500);
    struct mallometer_counters d = difference(start, snapshot());
    return mallometer_allocations(&d) + d.frees == 0 ? 0 : 1;
  }
  if (strcmp(what, "events") == 0) {
    struct mallometer_counters now = snapshot();
    return (int)(mallometer_allocations(&now) + now.frees + now.threads);
  }
  if (strcmp(what, "cost") == 0) {
    uint64_t before = self().overhead_ns;
    pause_ms(3000);
    double share = (double)(self().overhead_ns - before) / 3e9;
    printf("%.1f us of processor time a second\n", share * 1e6);
    CHECK(share < 0.001);
    return 0;
  }
  if (strcmp(what, "ask") == 0) {
    char too_long[800];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    CHECK_EQUAL(recording().state, MALLOMETER_RECORDING_OFF);
    CHECK_EQUAL(mallometer_recording_write(RECORDING_MINUTES, 0, "a\n", 2), -ENODATA);
    CHECK_EQUAL(mallometer_record(NULL), -EINVAL);
    CHECK_EQUAL(mallometer_record(""), -EINVAL);
    CHECK_EQUAL(mallometer_record(too_long), -EINVAL);
    CHECK_EQUAL(mallometer_record("/proc/nowhere"), -EIO);
    CHECK_EQUAL(recording().state, MALLOMETER_RECORDING_FAILED);
    CHECK_EQUAL(chdir(directory), 0);
    CHECK_EQUAL(mallometer_record("recording"), 0); /* is allowed, because the previous recording failed */
    CHECK_EQUAL(mallometer_record("other"), -EBUSY);
    CHECK_EQUAL(recording().state, MALLOMETER_RECORDING_ON);
    puts(recording().path);
    return 0;
  }
  if (strcmp(what, "truncate") == 0) {
    pause_ms(1200);
    CHECK_EQUAL(truncate(path, 0), 0);
    int written = mallometer_recording_write(RECORDING_MINUTES, 0, "a\n", 2);
    CHECK(written == -EIO || written == -ENODATA);
    CHECK_EQUAL(recording().state, MALLOMETER_RECORDING_FAILED);
    for (int i = 0; i < 100 && recording().state == MALLOMETER_RECORDING_ON; i++) pause_ms(100);
    CHECK_EQUAL(recording().state, MALLOMETER_RECORDING_FAILED);
    return strstr(recording().reason, "truncated") ? 0 : 1;
  }
  return 2;
}

/* ---- Cases -------------------------------------------------------------------------------------------- */

static void killed(void) {
  pid_t child = start_child("hold");
  await_samples(2);
  kill(child, SIGKILL);
  CHECK_EQUAL(WTERMSIG(status_of(child)), SIGKILL);
  struct recording_sample latest, exit_record;
  CHECK(seconds_of(path, &latest) >= 2);
  CHECK(latest.allocated_bytes - latest.freed_bytes >= 10000000);
  CHECK(latest.resident_bytes > 1000000 && latest.resident_bytes < 1000000000);
  CHECK_EQUAL(records_of(path, EXIT, &exit_record), 0);
  CHECK_EQUAL(header_of(path).pid, child);
  struct stat status;
  CHECK_EQUAL(stat(path, &status), 0);
  CHECK_EQUAL(status.st_mode & 07777, 0600);
  CHECK_EQUAL(status.st_size, RECORDING_FILE_BYTES);
  CHECK(status.st_blocks * 512 >= (long)RECORDING_FILE_BYTES); /* the file has no holes */
}

/* Reads the records of a child while it writes them, and after it was killed. An incomplete record must not have a
 * valid checksum. */
static void killed_while_writing(void) {
  int torn = 0, whole = 0;
  struct handed record;
  /* Repeats until an incomplete record was read, which happens rarely on a busy machine. */
  for (int life = 0; life < 8 || ((torn == 0 || whole == 0) && life < 100); life++) {
    unlink(path); /* await_samples() must not find samples of the previous run */
    pid_t child = start_child("writes");
    await_samples(1);
    for (int i = 0; i <= 100; i++) {
      if (i == 100) {
        kill(child, SIGKILL);
        status_of(child);
      }
      enum reading profile = read_handed(PROFILES, 2, &record);
      if (profile == WHOLE) CHECK(is_of_one_letter(&record));
      enum reading jvm = read_handed(JVM, 0, &record);
      if (jvm == WHOLE) CHECK(is_of_one_letter(&record));
      torn += (profile == TORN) + (jvm == TORN);
      whole += (profile == WHOLE) + (jvm == WHOLE);
    }
  }
  printf("%d torn, %d whole\n", torn, whole);
  CHECK(torn > 0 && whole > 0);
}

/* Kills a child after a rise of its memory. The file must name the call site of the rise, its stack and its thread,
 * and the allocated bytes within 30 % (6 standard errors). */
static int burst(void) {
  struct recording_burst rise = {0};
  pid_t child = start_child("burst");
  double bytes = (double)burst_bytes(), grown = 0;
  for (int i = 0; i < 100 && bytes <= MOST_BURST_BYTES && grown <= bytes * 0.7; i++) {
    pause_ms(100);
    if (rise_of(path, &rise)) grown = (double)rise.grown[0].live_bytes;
  }
  kill(child, SIGKILL);
  CHECK_EQUAL(WTERMSIG(status_of(child)), SIGKILL);
  if (bytes > MOST_BURST_BYTES) {
    printf("skipped: a rise of this limit takes %.0f MiB\n", bytes / 0x1p20);
    return SKIPPED;
  }
  CHECK(rise.sites >= 1);
  printf("%.0f of %.0f MiB in %u frames on %s\n", grown / 0x1p20, bytes / 0x1p20, rise.grown[0].frames,
         rise.grown[0].thread_name);
  CHECK(grown > bytes * 0.7);
  CHECK(grown < bytes * 1.3);
  CHECK(rise.grown[0].frames >= 2);
  CHECK(strcmp(rise.grown[0].thread_name, "exe") == 0);
  CHECK((double)rise.charged_bytes > (double)rise.begin_bytes + bytes / 2);
  for (uint32_t i = 1; i < rise.sites; i++) CHECK(rise.grown[i].live_bytes <= rise.grown[i - 1].live_bytes);
  return 0;
}

static void memory_that_is_freed_again_is_no_rise(void) {
  struct recording_burst rise;
  CHECK_EQUAL(run_child("churn"), 128 + SIGKILL);
  CHECK(!rise_of(path, &rise));
}

static void stopped(void) {
  pid_t child = start_child("hold");
  await_samples(2);
  kill(child, SIGSTOP);
  CHECK_EQUAL(waitpid(child, &(int){0}, WUNTRACED), child);
  struct recording_sample before, after;
  seconds_of(path, &before);
  pause_ms(1500);
  seconds_of(path, &after);
  CHECK_EQUAL(after.sequence, before.sequence); /* no sample while the process is stopped */
  kill(child, SIGCONT);
  await_samples((int)before.sequence + 1);
  kill(child, SIGSTOP);
  kill(child, SIGKILL);
  status_of(child);
  CHECK(seconds_of(path, &after) > 2);
}

static void exits_with(const char *what, int status) {
  CHECK_EQUAL(run_child(what), status);
  struct recording_sample exit_record;
  CHECK_EQUAL(records_of(path, EXIT, &exit_record), 1);
  CHECK_EQUAL(exit_record.kind, RECORDING_RECORD_EXIT);
#ifdef __GLIBC__
  CHECK_EQUAL(exit_record.flags, status);
#else
  CHECK_EQUAL(exit_record.flags, RECORDING_STATUS_NOT_TOLD);
#endif
}

static void exited(void) {
  exits_with("exit3", 3);
  exits_with("exit-1", 255); /* the lowest byte of -1 */
}

static void children_do_not_write(void) {
  CHECK_EQUAL(run_child("fork"), 128 + SIGKILL);
  struct recording_sample exit_record;
  CHECK_EQUAL(records_of(path, EXIT, &exit_record), 0);
}

static void thread_is_not_counted(void) {
  CHECK_EQUAL(run_child("count"), 0);
  int with = run_child("events");
  path[0] = '\0'; /* switches the recording off */
  CHECK_EQUAL(run_child("events"), with);
}

static void asked_at_run_time(void) {
  char whole[256];
  memcpy(whole, path, sizeof whole);
  path[0] = '\0';
  CHECK_EQUAL(run_child("ask"), 0);
  struct recording_sample exit_record;
  CHECK_EQUAL(records_of(whole, EXIT, &exit_record), 1);
}

static void second_runs_without(void) {
  pid_t first = start_child("hold");
  await_samples(1);
  uint64_t life = header_of(path).life;
  CHECK_EQUAL(run_child("refused"), 0);
  CHECK(header_of(path).life == life);
  kill(first, SIGKILL);
  status_of(first);
  CHECK_EQUAL(run_child("exit3"), 3); /* the file is unlocked, because the first process has ended */
  CHECK(header_of(path).life != life);
  char previous[300];
  snprintf(previous, sizeof previous, "%s.previous", path);
  CHECK(header_of(previous).life == life);
}

/* Short runs must not replace the file of a run of several minutes. */
static void long_life_is_kept(void) {
  char previous[300], kept[300];
  snprintf(previous, sizeof previous, "%s.previous", path);
  snprintf(kept, sizeof kept, "%s.kept", path);
  CHECK_EQUAL(run_child("exit3"), 3);
  uint64_t life = header_of(path).life;
  struct recording_header header = header_of(path);
  struct recording_sample sixth = {.sequence = 6};
  int file = open(path, O_WRONLY);
  CHECK_EQUAL(pwrite(file, &sixth, sizeof sixth, (off_t)(header.regions[2].offset + 5 * sizeof sixth)), sizeof sixth);
  close(file);
  for (int i = 0; i < 6; i++) CHECK_EQUAL(run_child("exit3"), 3);
  CHECK(header_of(kept).life == life);
  CHECK(header_of(previous).life != life);
}

static void write_file(const char *name, const char *text) {
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK_EQUAL(write(file, text, strlen(text)), (ssize_t)strlen(text));
  close(file);
}

static void stays_as_it_is(const char *name, const char *text) {
  char seen[100] = {0};
  int file = open(name, O_RDONLY);
  CHECK(read(file, seen, sizeof seen - 1) >= 0);
  close(file);
  CHECK(strcmp(seen, text) == 0);
}

static void nothing_of_others_is_touched(void) {
  static const char *const suffixes[] = {"", ".new", ".previous", ".kept"};
  for (int i = 0; i < 4; i++) {
    char name[300];
    snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
    if (i == 2) CHECK_EQUAL(run_child("exit3"), 3); /* makes a recording, which the next run renames */
    write_file(name, "the grocery list");
    CHECK_EQUAL(run_child("refused"), 0);
    stays_as_it_is(name, "the grocery list");
    unlink(name);
    CHECK_EQUAL(symlink("/etc/hostname", name), 0);
    CHECK_EQUAL(run_child("refused"), 0);
    unlink(name);
    CHECK_EQUAL(mkfifo(name, 0600), 0);
    CHECK_EQUAL(run_child("refused"), 0);
    unlink(name);
  }
  /* An empty file may be left by a killed process, so the recording must replace it. */
  char name[300];
  snprintf(name, sizeof name, "%s.new", path);
  write_file(name, "");
  CHECK_EQUAL(run_child("exit3"), 3);
  CHECK(access(name, F_OK) != 0);
}

static void directories_that_are_not_there(void) {
  snprintf(path, sizeof path, "%s/missing/recording", directory);
  CHECK_EQUAL(run_child("refused"), 0);
  snprintf(path, sizeof path, "%s", directory);
  CHECK_EQUAL(run_child("refused"), 0);
}

static void file_size_limit(void) {
  struct rlimit before, tight = {.rlim_cur = 1000, .rlim_max = RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &before);
  CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &tight), 0);
  int code = run_child("refused");
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK_EQUAL(code, 0);
  CHECK(access(path, F_OK) != 0);
}

static int full_disk(void) {
  char mount_point[200];
  snprintf(mount_point, sizeof mount_point, "%s/small", directory);
  mkdir(mount_point, 0700);
  if (mount("none", mount_point, "tmpfs", 0, "size=1m") != 0) {
    printf("skipped: mounting a small tmpfs: %s\n", strerror(errno));
    return SKIPPED;
  }
  snprintf(path, sizeof path, "%s/recording", mount_point);
  int code = run_child("refused");
  int left = access(path, F_OK);
  umount(mount_point);
  CHECK_EQUAL(code, 0);
  CHECK(left != 0);
  return 0;
}

static int run_case(const char *name) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {
      {"killed", killed},
      {"writing", killed_while_writing},
      {"stopped", stopped},
      {"churn", memory_that_is_freed_again_is_no_rise},
      {"exited", exited},
      {"children", children_do_not_write},
      {"uncounted", thread_is_not_counted},
      {"asked", asked_at_run_time},
      {"second", second_runs_without},
      {"kept", long_life_is_kept},
      {"foreign", nothing_of_others_is_touched},
      {"directories", directories_that_are_not_there},
      {"limit", file_size_limit},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].name, name) == 0) {
      cases[i].run();
      return 0;
    }
  }
  if (strcmp(name, "full") == 0) return full_disk();
  if (strcmp(name, "burst") == 0) return burst();
  if (strcmp(name, "message") == 0) return message();
  if (strcmp(name, "share") == 0) return share();
  return run_child(name); /* starts a child process, in which as_child() runs the case */
}

int main(int argc, char **argv) {
  program = "/proc/self/exe";
  if (argc == 3) {
    snprintf(directory, sizeof directory, "%s", argv[2]);
    snprintf(path, sizeof path, "%s/recording", directory);
    return as_child(argv[1]);
  }
  CHECK_EQUAL(argc, 2);
  CHECK(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/recording", directory);
  int code = run_case(argv[1]);
  char command[300];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  unsetenv("LD_PRELOAD");
  CHECK_EQUAL(system(command), 0);
  return code;
}
