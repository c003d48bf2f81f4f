/*
 * The recording from outside: a parent starts this program again as a child that records, looks at the file, and ends
 * it in each of the ways that there are. The cases are listed at the end; each works in a directory of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
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

/* ---- The file as a reader sees it --------------------------------------------------------------------- */

static struct recording_header header_of(const char *file) {
  struct recording_header header = {.life = 0};
  int descriptor = open(file, O_RDONLY);
  CHECK(descriptor >= 0);
  CHECK_EQUAL(pread(descriptor, &header, sizeof header, 0), sizeof header);
  close(descriptor);
  CHECK(memcmp(header.magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC) == 0);
  CHECK_EQUAL(header.format, RECORDING_FORMAT);
  CHECK_EQUAL(header.checksum, recording_checksum(&header, offsetof(struct recording_header, checksum)));
  return header;
}

/* The whole records of a region, counted; the latest is copied. */
static int records_of(const char *file, int region, struct recording_sample *latest) {
  struct recording_header header = header_of(file);
  int descriptor = open(file, O_RDONLY), whole = 0;
  latest->sequence = 0;
  for (uint32_t slot = 0; slot < header.regions[region].slots; slot++) {
    struct recording_sample record;
    off_t at = (off_t)(header.regions[region].offset + (uint64_t)slot * header.regions[region].slot_bytes);
    CHECK_EQUAL(pread(descriptor, &record, sizeof record, at), sizeof record);
    if (!record.sequence) continue;
    if (record.length != sizeof record || record.checksum != recording_checksum(&record.length, sizeof record - 4))
      continue;
    whole++;
    if (record.sequence > latest->sequence) *latest = record;
  }
  close(descriptor);
  return whole;
}

enum { SECONDS = 0, EXIT = 3 };

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

/* Until the file has so many samples by the second; fails after a minute. */
static void await_samples(int enough) {
  struct recording_sample latest;
  for (int i = 0; i < 600; i++) {
    if (access(path, R_OK) == 0 && seconds_of(path, &latest) >= enough) return;
    pause_ms(100);
  }
  CHECK(!"samples were written");
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

static int as_child(const char *what) {
  if (strcmp(what, "hold") == 0) hold_memory_for_ever();
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
      exit(recording().state == MALLOMETER_RECORDING_FAILED ? 9 : 1); /* its exit is not the process's */
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
    CHECK_EQUAL(mallometer_record(NULL), -EINVAL);
    CHECK_EQUAL(mallometer_record(""), -EINVAL);
    CHECK_EQUAL(mallometer_record(too_long), -EINVAL);
    CHECK_EQUAL(mallometer_record("/proc/nowhere"), -EIO);
    CHECK_EQUAL(recording().state, MALLOMETER_RECORDING_FAILED);
    CHECK_EQUAL(chdir(directory), 0);
    CHECK_EQUAL(mallometer_record("recording"), 0); /* again, since nothing came of the first */
    CHECK_EQUAL(mallometer_record("other"), -EBUSY);
    CHECK_EQUAL(recording().state, MALLOMETER_RECORDING_ON);
    puts(recording().path);
    return 0;
  }
  if (strcmp(what, "truncate") == 0) {
    pause_ms(1200);
    CHECK_EQUAL(truncate(path, 0), 0);
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
  struct recording_sample latest, goodbye;
  CHECK(seconds_of(path, &latest) >= 2);
  CHECK(latest.allocated_bytes - latest.freed_bytes >= 10000000);
  CHECK(latest.resident_bytes > 1000000 && latest.resident_bytes < 1000000000);
  CHECK_EQUAL(records_of(path, EXIT, &goodbye), 0);
  CHECK_EQUAL(header_of(path).pid, child);
  struct stat status;
  CHECK_EQUAL(stat(path, &status), 0);
  CHECK_EQUAL(status.st_mode & 07777, 0600);
  CHECK_EQUAL(status.st_size, RECORDING_FILE_BYTES);
  CHECK(status.st_blocks * 512 >= (long)RECORDING_FILE_BYTES); /* a full disk later on changes nothing */
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
  CHECK_EQUAL(after.sequence, before.sequence); /* nothing runs */
  kill(child, SIGCONT);
  await_samples((int)before.sequence + 1);
  kill(child, SIGSTOP);
  kill(child, SIGKILL);
  status_of(child);
  CHECK(seconds_of(path, &after) > 2);
}

static void exits_with(const char *what, int status) {
  CHECK_EQUAL(run_child(what), status);
  struct recording_sample goodbye;
  CHECK_EQUAL(records_of(path, EXIT, &goodbye), 1);
  CHECK_EQUAL(goodbye.kind, RECORDING_RECORD_EXIT);
#ifdef __GLIBC__
  CHECK_EQUAL(goodbye.flags, status);
#else
  CHECK_EQUAL(goodbye.flags, RECORDING_STATUS_NOT_TOLD);
#endif
}

static void exited(void) {
  exits_with("exit3", 3);
  exits_with("exit-1", 255); /* as the parent hears it */
}

static void children_do_not_write(void) {
  CHECK_EQUAL(run_child("fork"), 128 + SIGKILL);
  struct recording_sample goodbye;
  CHECK_EQUAL(records_of(path, EXIT, &goodbye), 0);
}

static void thread_is_not_counted(void) {
  CHECK_EQUAL(run_child("count"), 0);
  int with = run_child("events");
  path[0] = '\0'; /* which is the same as no variable */
  CHECK_EQUAL(run_child("events"), with);
}

static void asked_at_run_time(void) {
  char whole[256];
  memcpy(whole, path, sizeof whole);
  path[0] = '\0';
  CHECK_EQUAL(run_child("ask"), 0);
  struct recording_sample goodbye;
  CHECK_EQUAL(records_of(whole, EXIT, &goodbye), 1);
}

static void second_runs_without(void) {
  pid_t first = start_child("hold");
  await_samples(1);
  uint64_t life = header_of(path).life;
  CHECK_EQUAL(run_child("refused"), 0);
  CHECK(header_of(path).life == life);
  kill(first, SIGKILL);
  status_of(first);
  CHECK_EQUAL(run_child("exit3"), 3); /* the lock went with the process */
  CHECK(header_of(path).life != life);
  char previous[300];
  snprintf(previous, sizeof previous, "%s.previous", path);
  CHECK(header_of(previous).life == life);
}

/* A process that restarts all the time does not push out the life that lasted. */
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
    if (i == 2) CHECK_EQUAL(run_child("exit3"), 3); /* so that there is something to move aside */
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
  /* What a killed process left unfinished is ours. */
  char name[300];
  snprintf(name, sizeof name, "%s.new", path);
  write_file(name, "");
  CHECK_EQUAL(run_child("exit3"), 3);
  CHECK(access(name, F_OK) != 0);
}

static void directories_that_are_not_there(void) {
  snprintf(path, sizeof path, "%s/missing/recording", directory);
  CHECK_EQUAL(run_child("refused"), 0);
  snprintf(path, sizeof path, "%s", directory); /* a directory */
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
      {"stopped", stopped},
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
  return run_child(name); /* what the child checks itself */
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
