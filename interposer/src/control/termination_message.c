/* Composes the text, writes and empties the file, and compares its content before each change. See
 * termination_message.h. */
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

/* ENDING: the thread that holds the lock `busy` must empty the file before it releases the lock. LEFT: the file is
 * not used any more, because another program changed it or an access failed. */
enum { OFF, ON, ENDING, LEFT };
static int state = OFF;
static char file_path[sizeof((struct mallometer_message_status *)0)->path];
static char reason[sizeof((struct mallometer_message_status *)0)->reason];
static pid_t owner;
static struct file_status taken;
static void *mapping; /* keeps the file locked */

/* A lock on the file and on the variables above and below. */
static bool busy;

static char message[MESSAGE_BYTES]; /* the latest message */
static bool is_written;             /* whether `message` is in the file */
static char found[MESSAGE_BYTES];   /* the content of the file */
static char text[MESSAGE_BYTES];    /* the next message */

/* The diagnosis, a sentence from Java; `sentence_version` is odd while a thread stores the sentence. */
static char sentence[MESSAGE_SENTENCE_BYTES];
static uint32_t sentence_bytes;
static uint64_t sentence_ns;
static uint32_t sentence_version;
static bool storing;

static bool take(void) { return !__atomic_exchange_n(&busy, true, __ATOMIC_SEQ_CST); }

static bool take_soon(void) {
  for (unsigned i = 0; i < MOST_POLLS; i++) {
    if (take()) return true;
    wait_until(monotonic_ns() + POLL_NS);
  }
  return false;
}

/* Compares the process id, too: a child of a raw fork system call does not run message_forked(). */
bool message_is_on(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == ON && getpid() == owner; }

/* ---- The file ------------------------------------------------------------------------------------------ */

static void note_written(bool now) { __atomic_store_n(&is_written, now, __ATOMIC_RELAXED); }

static void release(int new_state) {
  if (mapping) file_unmap(mapping, MESSAGE_BYTES);
  mapping = NULL;
  note_written(false);
  __atomic_store_n(&state, new_state, __ATOMIC_RELEASE);
}

static void leave(const char *why) {
  snprintf(reason, sizeof reason, "%s", why);
  release(LEFT);
}

/* Returns whether an error may be temporary: the system lacks descriptors, memory or time, or a device failed once. */
static bool passes(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR || error == EAGAIN || error == EIO;
}

static void leave_unless_it_passes(void) {
  if (!passes(errno)) leave(strerror(errno));
}

/*
 * Whether the file still has the content that this library gave it. UNKNOWN: the file cannot be read at the moment.
 */
enum comparison { SAME, DIFFERENT, UNKNOWN };

static enum comparison compare(int file) {
  struct file_status now;
  if (!file_status(file, &now)) return UNKNOWN;
  if (!now.is_regular || now.file_system != taken.file_system || now.number != taken.number) return DIFFERENT;
  if (now.bytes != (is_written ? MESSAGE_BYTES : 0)) return DIFFERENT;
  if (!is_written) return SAME;
  int64_t length = file_read(file, found, sizeof found);
  if (length < 0) return UNKNOWN;
  return length == (int64_t)sizeof found && memcmp(found, message, sizeof found) == 0 ? SAME : DIFFERENT;
}

static int open_unchanged(void) {
  int file = file_open_existing(file_path);
  if (file < 0) {
    leave_unless_it_passes();
    return -1;
  }
  enum comparison compared = compare(file);
  if (compared == SAME) return file;
  file_close(file);
  if (compared == DIFFERENT) leave("another program has changed the file");
  return -1;
}

static void empty(int file) {
  if (ftruncate(file, 0) == 0) {
    note_written(false);
  } else {
    leave_unless_it_passes();
  }
}

static void clear(void) {
  if (!is_written) return;
  int file = open_unchanged();
  if (file < 0) return;
  empty(file);
  file_close(file);
}

/* Writes `text` into the file. If no byte is written, the file keeps its previous content. */
static void put(void) {
  int file = open_unchanged();
  if (file < 0) return;
  int64_t written = file_write(file, text, sizeof text);
  if (written == (int64_t)sizeof text) {
    memcpy(message, text, sizeof message);
    note_written(true);
  } else if (written > 0) {
    empty(file);
    leave(strerror(ENOSPC));
  } else if (!is_written) {
    leave_unless_it_passes();
  }
  file_close(file);
}

static bool is_ending(void) { return __atomic_load_n(&state, __ATOMIC_SEQ_CST) == ENDING && getpid() == owner; }

static void end_now(void) {
  clear();
  if (!is_ending()) return;
  snprintf(reason, sizeof reason, "it was ended");
  release(OFF);
}

/* Releases the lock. If message_stop() was called meanwhile, empties the file first. */
static void give(void) {
  do {
    if (is_ending()) end_now();
    __atomic_store_n(&busy, false, __ATOMIC_SEQ_CST);
  } while (is_ending() && take());
}

/* ---- The text ------------------------------------------------------------------------------------------ */

static char printable(char c) { return c < ' ' || c > '~' ? '?' : c; }

void message_set_sentence(const char *said, uint32_t length) {
  if (__atomic_exchange_n(&storing, true, __ATOMIC_ACQUIRE)) return;
  if (length > sizeof sentence) length = sizeof sentence;
  __atomic_store_n(&sentence_version, sentence_version + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (uint32_t i = 0; i < length; i++) sentence[i] = printable(said[i]);
  sentence_bytes = length;
  sentence_ns = monotonic_ns();
  __atomic_store_n(&sentence_version, sentence_version + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&storing, false, __ATOMIC_RELEASE);
}

static size_t append_sentence(size_t length) {
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

static void compose(const char *clause) {
  uint64_t now = realtime_ns();
  uint32_t second = (uint32_t)(now / SECOND % DAY_SECONDS);
  int length =
      snprintf(text, sizeof text, "mallometer at %02" PRIu32 ":%02" PRIu32 ":%02" PRIu32 ".%" PRIu64 " UTC: %s",
               second / 3600, second / 60 % 60, second % 60, now % SECOND / TENTH, clause);
  size_t used = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
  for (size_t i = 0; i < used; i++) text[i] = printable(text[i]);
  used = append_sentence(used);
  memset(text + used, ' ', sizeof text - used);
}

/* ---- The functions of termination_message.h ------------------------------------------------------------ */

void message_write(const char *clause) {
  if (!message_is_on() || !take()) return;
  if (message_is_on()) {
    compose(clause);
    put();
  }
  give();
}

void message_clear(void) {
  if (!__atomic_load_n(&is_written, __ATOMIC_RELAXED) || !message_is_on() || !take_soon()) return;
  if (message_is_on()) clear();
  give();
}

/* Sets the state ENDING, which prevents new writes, and empties the file. If another thread holds the lock for more
 * than 0.1 s, that thread empties the file when it releases the lock. */
void message_stop(void) {
  int expected = ON;
  if (getpid() != owner ||
      !__atomic_compare_exchange_n(&state, &expected, ENDING, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
    return;
  }
  if (take_soon()) give();
}

static void end(int status) {
  (void)status;
  message_stop();
}

/* Begins to use the file. Returns NULL, or the reason of a failure; `result` is then the error code for
 * message_start(). */
static const char *take_file(int *result) {
  struct file_status named;
  *result = -EINVAL;
  if (file_path[0] != '/') return "the path is not absolute";
  if (strlen(file_path) > LONGEST_PATH) return "the path is too long";
  *result = -EIO;
  if (!file_status_at(file_path, &named)) return strerror(errno);
  if (!named.is_regular) return "it is no regular file";
  if (named.bytes > 0) return "it is not empty";
  if (!file_size_is_allowed(MESSAGE_BYTES)) return "the limit of file sizes (ulimit -f) is too low";
  int file = file_open_existing(file_path);
  if (file < 0) return strerror(errno);
  const char *objection = NULL;
  if (!file_claim(file)) {
    bool is_locked = errno == EWOULDBLOCK;
    if (is_locked) *result = -EAGAIN;
    objection = is_locked ? "another process has locked it" : strerror(errno);
  } else if (!file_status(file, &taken) || !taken.is_regular || taken.bytes > 0) {
    objection = "another program has changed the file";
  } else if (!(mapping = file_map(file, MESSAGE_BYTES))) {
    objection = strerror(errno);
  }
  file_close(file);
  return objection;
}

static int begin(const char *path) {
  static bool registered;
  int result;
  memory_touch(message, sizeof message);
  memory_touch(found, sizeof found);
  memory_touch(text, sizeof text);
  snprintf(file_path, sizeof file_path, "%s", path);
  owner = getpid();
  const char *objection = take_file(&result);
  snprintf(reason, sizeof reason, "%s", objection ? objection : "");
  if (objection) return result;
  if (!registered) at_exit(end);
  registered = true;
  __atomic_store_n(&state, ON, __ATOMIC_RELEASE);
  return 0;
}

int message_start(const char *path) {
  if (!path) return -EINVAL;
  if (!take_soon()) return -EAGAIN;
  int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  int result = now == OFF ? begin(path) : now == ENDING ? -EAGAIN : -EBUSY;
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
