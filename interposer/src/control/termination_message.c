/* The file, the comparison before each change, and the text. See termination_message.h. */
#include "control/termination_message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/files.h"
#include "platform/libc.h"
#include "platform/memory.h"
#include "platform/wait.h"

#define SECOND UINT64_C(1000000000)
#define TENTH (SECOND / 10)
#define DAY_SECONDS 86400u
#define LONGEST_PATH 700u
#define POLL_NS 1000000u
#define MOST_POLLS 100u

/* LEFT: the file changed or failed, and is left alone for good. */
enum { OFF, ON, ENDING, LEFT };
static int state = OFF;
static char file_path[sizeof((struct mallometer_message_status *)0)->path];
static char reason[sizeof((struct mallometer_message_status *)0)->reason];
static pid_t owner;
static struct file_status taken;
static void *mapping; /* keeps the lock */

/* The word is held while the file and the variables around it are used. */
static bool busy;

static char message[MESSAGE_BYTES]; /* the latest message */
static bool is_written;             /* whether it is in the file */

/* Java's sentence; `sentence_version` is odd while it is stored. */
static char sentence[MESSAGE_SENTENCE_BYTES];
static uint32_t sentence_bytes;
static uint64_t sentence_ns;
static uint32_t sentence_version;
static bool storing;

static bool take(void) { return !__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE); }

static bool take_soon(void) {
  for (unsigned i = 0; i < MOST_POLLS; i++) {
    if (take()) return true;
    wait_until(monotonic_ns() + POLL_NS);
  }
  return false;
}

static void give(void) { __atomic_store_n(&busy, false, __ATOMIC_RELEASE); }

/* Compares the process id, because a fork past the C library's does not call message_forked(). */
bool message_is_on(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == ON && getpid() == owner; }

/* ---- The file ------------------------------------------------------------------------------------------ */

static void release(int new_state) {
  if (mapping) file_unmap(mapping, MESSAGE_BYTES);
  mapping = NULL;
  is_written = false;
  __atomic_store_n(&state, new_state, __ATOMIC_RELEASE);
}

static void leave(const char *why) {
  snprintf(reason, sizeof reason, "%s", why);
  release(LEFT);
}

/* Returns whether the file holds the latest message, or nothing if there is none. */
static bool is_unchanged(int file) {
  static char found[MESSAGE_BYTES];
  struct file_status now;
  if (!file_status(file, &now) || !now.is_regular || now.file_system != taken.file_system || now.number != taken.number)
    return false;
  if (now.bytes != (is_written ? MESSAGE_BYTES : 0)) return false;
  return !is_written ||
         (pread(file, found, sizeof found, 0) == (ssize_t)sizeof found && memcmp(found, message, sizeof found) == 0);
}

/* Opens the file for a change. Returns -1 if it is not possible now, or is no longer allowed. */
static int open_unchanged(void) {
  int file = file_open_existing(file_path);
  if (file < 0) {
    /* A lack of descriptors or memory passes. */
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM) leave(strerror(errno));
    return -1;
  }
  if (is_unchanged(file)) return file;
  leave("another program has changed the file");
  close(file);
  return -1;
}

static void empty(int file) {
  if (ftruncate(file, 0) != 0) {
    leave(strerror(errno));
  } else {
    is_written = false;
  }
}

static void clear(void) {
  if (!is_written) return;
  int file = open_unchanged();
  if (file < 0) return;
  empty(file);
  close(file);
}

static void put(const char *text) {
  int file = open_unchanged();
  if (file < 0) return;
  memcpy(message, text, sizeof message);
  ssize_t written = pwrite(file, message, sizeof message, 0);
  if (written == (ssize_t)sizeof message) {
    is_written = true;
  } else {
    int error = written < 0 ? errno : ENOSPC;
    if (written > 0 || is_written) empty(file);
    leave(strerror(error));
  }
  close(file);
}

/* ---- The text ------------------------------------------------------------------------------------------ */

static char printable(char c) { return c < ' ' || c > '~' ? '?' : c; }

void message_set_sentence(const char *text, uint32_t length) {
  if (__atomic_exchange_n(&storing, true, __ATOMIC_ACQUIRE)) return;
  if (length > sizeof sentence) length = sizeof sentence;
  __atomic_store_n(&sentence_version, sentence_version + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (uint32_t i = 0; i < length; i++) sentence[i] = printable(text[i]);
  sentence_bytes = length;
  sentence_ns = monotonic_ns();
  __atomic_store_n(&sentence_version, sentence_version + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&storing, false, __ATOMIC_RELEASE);
}

/* Appends the sentence with its age, unless it is just being stored. */
static size_t append_sentence(char *text, size_t length) {
  uint32_t before = __atomic_load_n(&sentence_version, __ATOMIC_ACQUIRE);
  uint32_t bytes = sentence_bytes;
  if (before % 2 != 0 || bytes == 0 || bytes > sizeof sentence) return length;
  uint64_t age = (monotonic_ns() - sentence_ns) / SECOND;
  size_t room = MESSAGE_BYTES - length;
  int added = snprintf(text + length, room, "; %" PRIu64 " s earlier: %.*s", age, (int)bytes, sentence);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (added < 0 || __atomic_load_n(&sentence_version, __ATOMIC_RELAXED) != before) return length;
  return (size_t)added < room ? length + (size_t)added : MESSAGE_BYTES - 1;
}

static const char *compose(const char *clause) {
  static char text[MESSAGE_BYTES];
  uint64_t now = realtime_ns();
  uint32_t second = (uint32_t)(now / SECOND % DAY_SECONDS);
  int length =
      snprintf(text, sizeof text, "mallometer at %02" PRIu32 ":%02" PRIu32 ":%02" PRIu32 ".%" PRIu64 " UTC: %s",
               second / 3600, second / 60 % 60, second % 60, now % SECOND / TENTH, clause);
  size_t used = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
  for (size_t i = 0; i < used; i++) text[i] = printable(text[i]);
  used = append_sentence(text, used);
  memset(text + used, ' ', sizeof text - used);
  return text;
}

/* ---- Calls --------------------------------------------------------------------------------------------- */

void message_write(const char *clause) {
  if (!message_is_on() || !take()) return;
  if (message_is_on()) put(compose(clause));
  give();
}

void message_clear(void) {
  if (!message_is_on() || !take_soon()) return;
  if (message_is_on()) clear();
  give();
}

/* No write begins once the state has changed, so none comes after the last one. */
void message_stop(void) {
  int expected = ON;
  if (getpid() != owner ||
      !__atomic_compare_exchange_n(&state, &expected, ENDING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return;
  }
  if (!take_soon()) return;
  clear();
  if (state == ENDING) {
    snprintf(reason, sizeof reason, "it was ended");
    release(OFF);
  }
  give();
}

static void end(int status) {
  (void)status;
  message_stop();
}

/* Takes the file. Returns why that is not possible; NULL if it is. */
static const char *take_file(const char *path) {
  struct file_status named;
  if (!file_status_at(path, &named)) return strerror(errno);
  if (!named.is_regular) return "it is no regular file";
  if (named.bytes > 0) return "it is not empty";
  if (!file_size_is_allowed(MESSAGE_BYTES)) return "the limit of file sizes (ulimit -f) is too low";
  int file = file_open_existing(path);
  if (file < 0) return strerror(errno);
  const char *objection = NULL;
  if (!file_claim(file)) {
    objection = errno == EWOULDBLOCK ? "another process has locked it" : strerror(errno);
  } else if (!file_status(file, &taken) || !taken.is_regular || taken.bytes > 0) {
    objection = "another program has changed the file";
  } else if (!(mapping = file_map(file, MESSAGE_BYTES))) {
    objection = strerror(errno);
  }
  close(file);
  return objection;
}

int message_start(const char *path) {
  static bool registered;
  if (!path || path[0] != '/' || strnlen(path, LONGEST_PATH + 1) > LONGEST_PATH) return -EINVAL;
  if (!take_soon()) return -EBUSY;
  int result = -EBUSY;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == OFF) {
    memory_touch(message, sizeof message);
    snprintf(file_path, sizeof file_path, "%s", path);
    owner = getpid();
    const char *objection = take_file(path);
    snprintf(reason, sizeof reason, "%s", objection ? objection : "");
    result = objection ? -EIO : 0;
    if (!objection && !registered) at_exit(end);
    registered = registered || !objection;
    if (!objection) __atomic_store_n(&state, ON, __ATOMIC_RELEASE);
  }
  give();
  return result;
}

void message_describe(struct mallometer_message_status *out) {
  out->state = message_is_on() ? 1 : 0;
  snprintf(out->path, sizeof out->path, "%s", file_path);
  if (!out->state) snprintf(out->reason, sizeof out->reason, "%s", reason);
}

void message_forked(void) {
  if (state == ON) snprintf(reason, sizeof reason, "a forked child writes no message");
  state = OFF;
  busy = storing = is_written = false;
  sentence_bytes = sentence_version = 0;
  mapping = NULL; /* the child did not inherit it */
}
