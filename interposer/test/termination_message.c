/*
 * Tests the file of the termination message: which files the library accepts, what the file contains after each kind
 * of end of the process, and what happens if another program changes it. Each case runs in a child process, because a
 * process that has given up its file cannot use it again. With the arguments "killed N", the program kills N children
 * while they rewrite the file.
 */
#include "control/termination_message.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "platform/clock.h"
#include "platform/files.h"
#include "platform/libc.h"
#include "platform/memory.h"
#include "platform/wait.h"

#define NOBODY 65534
#define BEGIN "mallometer at "

static char directory[] = "/tmp/mallometer-message-XXXXXX";
static char path[256], other[256];

static uint64_t time_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t monotonic_ns(void) { return time_of(CLOCK_MONOTONIC); }

/* If set, realtime_ns() calls this function, which then runs in the middle of message_write(). */
static void (*in_write)(void);
uint64_t realtime_ns(void) {
  if (in_write) in_write();
  return time_of(CLOCK_REALTIME);
}

/* If set, wait_until() calls this function first. wait_until() waits ten times as long as requested, because the
 * machine may be busy. */
static void (*in_wait)(void);
void wait_until(uint64_t moment_ns) {
  uint64_t now = monotonic_ns();
  if (in_wait) in_wait();
  while (monotonic_ns() < now + 10 * (moment_ns - now)) usleep(100);
}
size_t memory_page_bytes(void) { return 4096; }

static void run_with_status(int status, void *run) { ((void (*)(int))(uintptr_t)run)(status); }
void at_exit(void (*run)(int status)) { on_exit(run_with_status, (void *)(uintptr_t)run); }

/* ---- Failures of the system ------------------------------------------------------------------------------ */

/* The file function that fails with the error `failure`. With SHORT, file_write() writes 100 bytes only. */
static enum { NONE, OPEN, STATUS, READ, WRITE, SHORT } failing;
static int failure;

static bool fails(unsigned function) {
  if (failing == function) errno = failure;
  return failing == function;
}

int __real_file_open_existing(const char *name);
bool __real_file_status(int file, struct file_status *status);
int64_t __real_file_read(int file, void *to, size_t bytes);
int64_t __real_file_write(int file, const void *from, size_t bytes);
int __wrap_file_open_existing(const char *name) { return fails(OPEN) ? -1 : __real_file_open_existing(name); }
bool __wrap_file_status(int file, struct file_status *status) {
  return !fails(STATUS) && __real_file_status(file, status);
}
int64_t __wrap_file_read(int file, void *to, size_t bytes) {
  return fails(READ) ? -1 : __real_file_read(file, to, bytes);
}
int64_t __wrap_file_write(int file, const void *from, size_t bytes) {
  return fails(WRITE) ? -1 : __real_file_write(file, from, fails(SHORT) ? 100 : bytes);
}

/* ---- The file ------------------------------------------------------------------------------------------ */

static void make_file(const char *text) {
  unlink(path);
  int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
  CHECK(file >= 0);
  CHECK_EQUAL(fchmod(file, 0666), 0);
  CHECK_EQUAL(write(file, text, strlen(text)), strlen(text));
  close(file);
}

static char text[4097];

static ssize_t read_file(void) {
  int file = open(path, O_RDONLY | O_NONBLOCK);
  CHECK(file >= 0);
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  CHECK(length >= 0);
  text[length] = '\0';
  return length;
}

static void is_empty(void) { CHECK_EQUAL(read_file(), 0); }

static void has_message(const char *part) {
  CHECK_EQUAL(read_file(), MESSAGE_BYTES);
  CHECK(strncmp(text, BEGIN, strlen(BEGIN)) == 0);
  CHECK(strstr(text, part));
  for (unsigned i = 0; i < MESSAGE_BYTES; i++) CHECK(text[i] >= ' ' && text[i] <= '~');
}

static struct mallometer_message_status status(void) {
  struct mallometer_message_status now = {0};
  message_describe(&now);
  return now;
}

static void is_off(const char *why) {
  struct mallometer_message_status now = status();
  CHECK_EQUAL(now.state, 0);
  if (!strstr(now.reason, why)) fprintf(stderr, "\"%s\" instead of \"%s\"\n", now.reason, why);
  CHECK(strstr(now.reason, why));
}

static void is_refused(int error, const char *why) {
  CHECK_EQUAL(message_start(path), error);
  CHECK(strcmp(status().path, path) == 0);
  is_off(why);
  message_write("it must not be written");
  message_clear();
  message_stop();
}

static void is_started(void) {
  CHECK_EQUAL(message_start(path), 0);
  CHECK_EQUAL(status().state, 1);
  is_empty();
}

/* ---- Children ------------------------------------------------------------------------------------------ */

static int ended(pid_t child) {
  int how = 0;
  CHECK_EQUAL(waitpid(child, &how, 0), child);
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

static int run(void (*action)(void)) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    action();
    exit(0);
  }
  return ended(child);
}

static void write_one(void) {
  is_started();
  message_set_sentence("Cart.zip leaks 3 MiB/h", 22);
  message_write("93 % of the limit of 512 MiB are used");
  has_message("UTC: 93 % of the limit of 512 MiB are used; 0 s earlier: Cart.zip leaks 3 MiB/h ");
}

static void exit_with_3(void) {
  write_one();
  exit(3);
}
static void write_and_abort(void) {
  write_one();
  signal(SIGABRT, SIG_DFL);
  abort();
}
static void end_without_exit(void) {
  write_one();
  _exit(4);
}

/* ---- Ends of a process --------------------------------------------------------------------------------- */

static void orderly_ends_empty_the_file(void) {
  for (int i = 0; i < 100; i++) {
    make_file("");
    CHECK_EQUAL(run(i % 2 ? write_one : exit_with_3), i % 2 ? 0 : 3);
    is_empty();
  }
}

static void other_ends_keep_the_message(void) {
  make_file("");
  CHECK_EQUAL(run(write_and_abort), 128 + SIGABRT);
  has_message("93 %");
  make_file("");
  CHECK_EQUAL(run(end_without_exit), 4);
  has_message("93 %");
}

static void *write_for_ever(void *unused) {
  for (uint64_t i = 0;; i++) {
    char clause[300];
    memset(clause, 'a' + (int)(i % 26), sizeof clause - 1);
    clause[i % (sizeof clause - 1)] = '\0';
    message_write(clause);
  }
  return unused;
}

static void exit_while_a_thread_writes(void) {
  pthread_t thread;
  is_started();
  CHECK_EQUAL(pthread_create(&thread, NULL, write_for_ever, NULL), 0);
  while (read_file() == 0) sched_yield();
}

static void nothing_is_written_after_the_exit(void) {
  for (int i = 0; i < 50; i++) {
    make_file("");
    CHECK_EQUAL(run(exit_while_a_thread_writes), 0);
    is_empty();
  }
}

static void killed(unsigned times) {
  for (unsigned i = 0; i < times; i++) {
    make_file("");
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      is_started();
      write_for_ever(NULL);
    }
    while (read_file() == 0) CHECK_EQUAL(waitpid(child, NULL, WNOHANG), 0);
    uint64_t end = monotonic_ns() + (uint64_t)(rand() % 2000) * 1000;
    while (monotonic_ns() < end) sched_yield();
    kill(child, SIGKILL);
    CHECK_EQUAL(ended(child), 128 + SIGKILL);
    CHECK_EQUAL(read_file(), MESSAGE_BYTES);
    CHECK(strncmp(text, BEGIN, strlen(BEGIN)) == 0);
    const char *clause = strstr(text, "UTC: ");
    CHECK(clause);
    clause += 5;
    size_t letters = strspn(clause, (char[]){*clause, '\0'});
    if (*clause == ' ') letters = 0;
    CHECK_EQUAL(strspn(clause + letters, " "), MESSAGE_BYTES - (size_t)(clause - text) - letters);
  }
}

/* ---- Files that are accepted or refused ---------------------------------------------------------------- */

static void refused_if_not_empty(void) { is_refused(-EIO, "it is not empty"); }
static void refused_if_locked(void) { is_refused(-EAGAIN, "another process has locked it"); }
static void refused_if_special(void) { is_refused(-EIO, "it is no regular file"); }
static void refused_if_missing(void) { is_refused(-EIO, "No such file"); }
static void refused_by_the_limit(void) {
  struct rlimit limit = {100, 100};
  CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
  is_refused(-EIO, "ulimit -f");
}
static void become_nobody(void) {
  if (geteuid() != 0) return;
  CHECK_EQUAL(setgroups(0, NULL), 0);
  CHECK_EQUAL(setgid(NOBODY), 0);
  CHECK_EQUAL(setuid(NOBODY), 0);
}
static void refused_if_read_only(void) {
  become_nobody();
  is_refused(-EIO, "Permission denied");
}
static void write_as_nobody(void) {
  become_nobody();
  write_one();
}

static void only_an_empty_regular_file_is_taken(void) {
  CHECK_EQUAL(message_start(NULL), -EINVAL);
  snprintf(path, sizeof path, "false");
  is_refused(-EINVAL, "the path is not absolute");
  char longer[800];
  memset(longer, '/', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  CHECK_EQUAL(message_start(longer), -EINVAL);
  is_off("the path is too long");
  snprintf(path, sizeof path, "%s/message", directory);
  make_file("of the program");
  CHECK_EQUAL(run(refused_if_not_empty), 0);
  CHECK_EQUAL(read_file(), 14);

  unlink(path);
  CHECK_EQUAL(run(refused_if_missing), 0);
  CHECK_EQUAL(access(path, F_OK), -1);
  CHECK_EQUAL(mkdir(path, 0700), 0);
  CHECK_EQUAL(run(refused_if_special), 0);
  rmdir(path);
  CHECK_EQUAL(mkfifo(path, 0666), 0);
  CHECK_EQUAL(run(refused_if_special), 0);
  unlink(path);
  close(open(other, O_CREAT | O_WRONLY, 0666));
  CHECK_EQUAL(symlink(other, path), 0);
  CHECK_EQUAL(run(refused_if_special), 0);
  is_empty();
  unlink(path);
  snprintf(path, sizeof path, "/dev/full");
  CHECK_EQUAL(run(refused_if_special), 0);
  snprintf(path, sizeof path, "%s/message", directory);

  make_file("");
  CHECK_EQUAL(run(refused_by_the_limit), 0);
  CHECK_EQUAL(chmod(path, 0444), 0);
  CHECK_EQUAL(run(refused_if_read_only), 0);
  is_empty();
  CHECK_EQUAL(chmod(path, 0666), 0);
  CHECK_EQUAL(chmod(directory, 0755), 0);
  CHECK_EQUAL(run(write_as_nobody), 0);
  is_empty();
}

static void one_process_has_the_file(void) {
  make_file("");
  int file = open(path, O_RDWR);
  CHECK_EQUAL(flock(file, LOCK_EX), 0);
  CHECK_EQUAL(run(refused_if_locked), 0);
  close(file);
  is_started();
  CHECK_EQUAL(message_start(path), -EBUSY);
  message_stop();
  CHECK_EQUAL(run(write_one), 0);
  is_empty();
}

static void is_left_for_good(const char *why) {
  message_write("it must not be written");
  is_off(why);
  message_clear();
  message_stop();
  CHECK_EQUAL(message_start(path), -EBUSY);
}

/* ---- Stop and exit during a write, failed writes, cancellation ------------------------------------------- */

static bool writes, may_write;

static void wait_in_write(void) {
  __atomic_store_n(&writes, true, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&may_write, __ATOMIC_ACQUIRE)) usleep(100);
}

static void *write_slowly(void *unused) {
  message_write("slow");
  return unused;
}

/* message_stop() must not wait for another thread's slow write. The writing thread must then empty the file. */
static void a_slow_write_ends_the_message(void) {
  pthread_t thread;
  write_one();
  in_write = wait_in_write;
  CHECK_EQUAL(pthread_create(&thread, NULL, write_slowly, NULL), 0);
  while (!__atomic_load_n(&writes, __ATOMIC_ACQUIRE)) usleep(100);
  message_stop();
  CHECK_EQUAL(message_start(path), -EAGAIN);
  __atomic_store_n(&may_write, true, __ATOMIC_RELEASE);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  in_write = NULL;
  is_empty();
  is_off("it was ended");
  write_one();
}

static void begin_to_write_slowly(void) {
  pthread_t thread;
  write_one();
  in_write = wait_in_write;
  CHECK_EQUAL(pthread_create(&thread, NULL, write_slowly, NULL), 0);
  while (!__atomic_load_n(&writes, __ATOMIC_ACQUIRE)) usleep(100);
}

static void end_the_write(void) { __atomic_store_n(&may_write, true, __ATOMIC_RELEASE); }

static void an_exit_waits_for_a_slow_write(void) {
  begin_to_write_slowly();
  in_wait = end_the_write;
  exit(3);
}

/*
 * If a write does not end, an exit must wait for it for a limited time only. The file then keeps the earlier message.
 */
static void an_exit_does_not_wait_for_ever(void) {
  begin_to_write_slowly();
  exit(3);
}

static void passing_failures_leave_the_message(void) {
  write_one();
  for (failing = OPEN; failing <= WRITE; failing++) {
    static const int errors[] = {EIO, EINTR, ENOMEM, EAGAIN, EMFILE, ENFILE};
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
      failure = errors[i];
      message_write("it must not be written");
      if (failing != WRITE) message_clear();
      CHECK_EQUAL(status().state, 1);
      has_message("93 %");
    }
  }
  failing = WRITE;
  failure = ENOSPC; /* a permanent failure must keep the earlier message, too */
  message_write("it must not be written");
  failing = NONE;
  CHECK_EQUAL(status().state, 1);
  has_message("93 %");
  message_write("again");
  has_message("again");
  message_clear();
  is_empty();
}

/* A temporary failure of the first write must change nothing. After a permanent failure, such as ENOSPC, the library
 * must give up the file. */
static void failures_of_the_first_message(void) {
  is_started();
  failing = WRITE;
  static const int errors[] = {EIO, EINTR, ENOMEM, EAGAIN, EMFILE, ENFILE};
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
    failure = errors[i];
    message_write("it must not be written");
    CHECK_EQUAL(status().state, 1);
    is_empty();
  }
  failure = ENOSPC;
  is_left_for_good("No space left");
  failing = NONE;
}

static void a_file_that_is_no_longer_allowed_is_left(void) {
  write_one();
  failing = OPEN;
  failure = EACCES;
  is_left_for_good("Permission denied");
  failing = NONE;
}

static void half_a_message_is_removed(void) {
  write_one();
  failing = SHORT;
  is_left_for_good("No space left");
  is_empty();
}

static void *message_while_cancelled(void *result) {
  pthread_cancel(pthread_self()); /* takes effect at the first cancellation point */
  if (message_start(path) == 0) *(int *)result = 1;
  message_write("once");
  message_write("twice");
  message_clear();
  message_write("again");
  message_stop();
  *(int *)result += 1;
  return NULL;
}

/* A thread must not be cancelled inside the functions of the message, where it would keep a lock and leave the
 * message in the file. */
static void no_call_is_cancelled(void) {
  pthread_t thread;
  int result = 0;
  CHECK_EQUAL(pthread_create(&thread, NULL, message_while_cancelled, &result), 0);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  CHECK_EQUAL(result, 2);
  is_off("it was ended");
  is_empty();
}

static void ends_and_failures(void) {
  void (*const cases[])(void) = {a_slow_write_ends_the_message, passing_failures_leave_the_message,
                                 failures_of_the_first_message, half_a_message_is_removed, no_call_is_cancelled};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    make_file("");
    CHECK_EQUAL(run(cases[i]), 0);
    is_empty();
  }
  make_file("");
  CHECK_EQUAL(run(an_exit_waits_for_a_slow_write), 3);
  is_empty();
  make_file("");
  CHECK_EQUAL(run(an_exit_does_not_wait_for_ever), 3);
  has_message("93 %");
  make_file("");
  CHECK_EQUAL(run(a_file_that_is_no_longer_allowed_is_left), 0);
  has_message("93 %");
}

/* ---- Changes of the file by other programs --------------------------------------------------------------- */

static void change(const char *with, off_t at) {
  int file = open(path, O_WRONLY);
  CHECK_EQUAL(pwrite(file, with, strlen(with), at), strlen(with));
  close(file);
}

static void others_append(void) {
  write_one();
  change("more", MESSAGE_BYTES);
  is_left_for_good("another program has changed the file");
}
static void others_replace_a_letter(void) {
  write_one();
  change("M", 0);
  is_left_for_good("another program has changed the file");
}
static void others_write_first(void) {
  is_started();
  change("of the program", 0);
  is_left_for_good("another program has changed the file");
}
static void others_remove(void) {
  write_one();
  unlink(path);
  is_left_for_good("No such file");
}
static void others_put_another_file_there(void) {
  write_one();
  make_file("");
  is_left_for_good("another program has changed the file");
}
static void others_change_before_the_exit(void) {
  write_one();
  change("M", 0);
}

static void changed_files_are_left_alone(void) {
  make_file("");
  CHECK_EQUAL(run(others_append), 0);
  CHECK_EQUAL(read_file(), MESSAGE_BYTES + 4);
  make_file("");
  CHECK_EQUAL(run(others_replace_a_letter), 0);
  CHECK_EQUAL(read_file(), MESSAGE_BYTES);
  CHECK(text[0] == 'M');
  make_file("");
  CHECK_EQUAL(run(others_write_first), 0);
  CHECK_EQUAL(read_file(), 14);
  make_file("");
  CHECK_EQUAL(run(others_remove), 0);
  CHECK_EQUAL(access(path, F_OK), -1);
  make_file("");
  CHECK_EQUAL(run(others_put_another_file_there), 0);
  is_empty();
  make_file("");
  CHECK_EQUAL(run(others_change_before_the_exit), 0);
  CHECK_EQUAL(read_file(), MESSAGE_BYTES);
}

/* ---- Forks, message_start() after message_stop(), the message's text ----------------------------------- */

static void forked_child(void) {
  message_forked();
  is_off("a forked child");
  message_write("it must not be written");
  message_clear();
}

static void fork_by_system_call(void) {
  write_one();
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    message_write("it must not be written");
    exit(0); /* calls the parent's exit functions, which must not empty the file */
  }
  CHECK_EQUAL(ended(child), 0);
  has_message("93 %");
}

static void forks_write_nothing(void) {
  make_file("");
  is_started();
  message_write("of the parent");
  CHECK_EQUAL(run(forked_child), 0);
  has_message("of the parent");
  message_stop();
  is_empty();
  CHECK_EQUAL(run(fork_by_system_call), 0);
  is_empty();
}

static unsigned lines_with_path(const char *list) {
  char line[1000];
  unsigned count = 0;
  FILE *lines = fopen(list, "r");
  CHECK(lines);
  while (fgets(line, sizeof line, lines)) count += strstr(line, path) != NULL;
  fclose(lines);
  return count;
}

static void has_no_descriptor(void) {
  for (int file = 0; file < 64; file++) {
    char name[64], target[300];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = '\0';
    CHECK(strcmp(target, path) != 0);
  }
}

/* message_stop() must give up the file, and message_start() must take the file again, as after a restore from a
 * checkpoint. */
static void a_message_may_begin_again(void) {
  make_file("");
  write_one();
  CHECK_EQUAL(lines_with_path("/proc/self/maps"), 1);
  has_no_descriptor();
  message_stop();
  is_empty();
  CHECK_EQUAL(lines_with_path("/proc/self/maps"), 0);
  is_off("it was ended");
  write_one();
  message_clear();
  is_empty();
  message_write("again");
  has_message("again");
  message_stop();
  is_empty();
}

static void any_sentence_is_ascii_of_fixed_length(void) {
  make_file("");
  is_started();
  char sentence[2000];
  memset(sentence, 's', sizeof sentence);
  memcpy(sentence, "\xc3\xa4\n\x1b\t", 5);
  char clause[2000];
  memset(clause, 'c', sizeof clause - 1);
  clause[sizeof clause - 1] = '\0';
  message_set_sentence(sentence, sizeof sentence);
  message_write("short");
  has_message("s earlier: ?????sss");
  CHECK(!strstr(text, "c"));
  CHECK_EQUAL(strspn(strstr(text, "sss"), "s"), MESSAGE_SENTENCE_BYTES - 5);
  message_write(clause);
  has_message("ccc");
  message_set_sentence("", 0);
  message_write("short");
  has_message("UTC: short   ");
  message_stop();
}

/* ---- Mounts of a container ----------------------------------------------------------------------------- */

static void full_disk(void) {
  is_started();
  char name[300], zeros[4096] = {0};
  snprintf(name, sizeof name, "%s/filler", directory);
  int filler = open(name, O_CREAT | O_WRONLY, 0600);
  CHECK(filler >= 0);
  while (write(filler, zeros, sizeof zeros) > 0) continue;
  is_left_for_good("No space left");
  is_empty();
}

static bool mounts_in_a_namespace(void) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void on_a_full_disk(void) {
  if (!mounts_in_a_namespace() || mount("none", directory, "tmpfs", 0, "size=64k") != 0) _exit(77);
  make_file("");
  CHECK_EQUAL(run(full_disk), 0);
  _exit(0);
}

/*
 * Bind-mounts a file over a file of a read-only file system, as container runtimes do. The process's user owns neither
 * file.
 */
static void bound_over_a_file(void) {
  char source[300];
  if (!mounts_in_a_namespace()) _exit(77);
  CHECK_EQUAL(chmod(directory, 0755), 0);
  make_file("");
  snprintf(source, sizeof source, "%s/source", directory);
  CHECK_EQUAL(rename(path, source), 0);
  snprintf(other, sizeof other, "%s/root", directory);
  CHECK_EQUAL(mkdir(other, 0755), 0);
  if (mount("none", other, "tmpfs", 0, "mode=755") != 0) _exit(77);
  snprintf(path, sizeof path, "%s/root/message", directory);
  make_file("");
  CHECK_EQUAL(mount(source, path, NULL, MS_BIND, NULL), 0);
  CHECK_EQUAL(mount("none", other, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
  CHECK_EQUAL(run(write_as_nobody), 0);
  is_empty();
  CHECK_EQUAL(run(end_without_exit), 4);
  has_message("93 %");
  _exit(0);
}

static void as_in_a_container(void (*action)(void)) {
  int code = run(action);
  if (code == 77) printf("left out: needs root\n");
  CHECK(code == 0 || code == 77);
}

int main(int argc, char **argv) {
  CHECK(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/message", directory);
  snprintf(other, sizeof other, "%s/other", directory);
  if (argc == 3) {
    killed((unsigned)atoi(argv[2]));
  } else {
    orderly_ends_empty_the_file();
    other_ends_keep_the_message();
    nothing_is_written_after_the_exit();
    only_an_empty_regular_file_is_taken();
    one_process_has_the_file();
    ends_and_failures();
    changed_files_are_left_alone();
    forks_write_nothing();
    a_message_may_begin_again();
    any_sentence_is_ascii_of_fixed_length();
    as_in_a_container(on_a_full_disk);
    as_in_a_container(bound_over_a_file);
  }
  char command[300];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  CHECK_EQUAL(system(command), 0);
  return 0;
}
