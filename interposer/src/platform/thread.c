/* Starts threads by pthread_create, with all signals blocked. See thread.h. */
#include "platform/thread.h"

#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "platform/arch.h"
#include "platform/glibc_versions.h"
#include "platform/keep_errno.h"
#include "platform/kernel.h"
#include "platform/loader.h"
#include "platform/system_calls.h"

uint32_t thread_id(void) { return (uint32_t)syscall(SYS_gettid); }

/* The thread ID is a part of the ID of the thread's CPU-time clock (clock_getcpuclockid(3)). */
uint32_t thread_id_known(void) {
  clockid_t clock;
  if (!pthread_getcpuclockid || pthread_getcpuclockid(pthread_self(), &clock) != 0) return 0;
  return (uint32_t) ~(clock >> 3);
}

/* The format of getdents64(2). */
struct entry {
  uint64_t number;
  int64_t next;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

size_t thread_ids(uint32_t *ids, size_t capacity) {
  _Alignas(struct entry) char entries[4096];
  size_t count = 0;
  long length;
  int folder = call_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
  while (folder >= 0 && (length = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
    const struct entry *entry;
    for (long at = 0; at < length && count < capacity; at += entry->bytes) {
      entry = (const struct entry *)(entries + at);
      uint32_t id = 0;
      for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++) id = id * 10 + (uint32_t)(*c - '0');
      if (id > 0) ids[count++] = id;
    }
  }
  if (folder >= 0) call_close(folder);
  return count;
}

uintptr_t thread_robust_list(uint32_t id) {
  uintptr_t head = 0;
  size_t bytes = 0;
  return syscall(SYS_get_robust_list, id, &head, &bytes) == 0 ? head : 0;
}

/* ---- Threads that wait --------------------------------------------------------------------------------- */

/* Parses the file syscall (proc(5)): either the word "running", or the number of the system call, its arguments, the
 * stack pointer and the program counter. */
bool thread_waits(uint32_t id, struct waiting_thread *thread) {
  char path[48], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%" PRIu32 "/syscall", id);
  if (!kernel_text(path, text, sizeof text)) return false;
  uintptr_t *of = thread->arguments;
  return sscanf(
             text,
             "%ld %" SCNxPTR " %" SCNxPTR " %" SCNxPTR " %" SCNxPTR " %" SCNxPTR " %" SCNxPTR " %" SCNxPTR " %" SCNxPTR,
             &thread->call, &of[0], &of[1], &of[2], &of[3], &of[4], &of[5], &thread->stack_pointer, &thread->pc) == 9;
}

/* Reads the letter of the state (proc(5)). It follows the thread's name, which is in parentheses and may contain
 * parentheses. */
bool thread_sleeps(uint32_t id) {
  char path[48], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%" PRIu32 "/stat", id);
  if (!kernel_text(path, text, sizeof text)) return false;
  const char *end_of_name = strrchr(text, ')');
  return end_of_name && end_of_name[1] == ' ' && memchr("SZX", end_of_name[2], 3);
}

/* The number of words, from a waiting thread's stack pointer on, that are searched for a return address into
 * pthread_cond_wait or a similar function. */
#define MOST_WORDS_BELOW ((size_t)64)

struct code {
  uintptr_t begin;
  size_t bytes;
};

/* Returns the address range of a function that begins by storing the callee-saved registers. The range is empty for
 * other functions, and if the function's end is unknown. */
static struct code storing_code(const char *name) {
  const ElfW(Sym) *symbol = NULL;
  Dl_info info;
  const void *function = dlsym(RTLD_DEFAULT, name);
  bool stores = function && dladdr1 && dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
                stores_registers_at_once(function);
  return stores ? (struct code){(uintptr_t)function, symbol->st_size} : (struct code){0};
}

static bool is_in(const struct code *code, uintptr_t address) { return address - code->begin < code->bytes; }

enum { WAITS = 3 };

static const struct code *waits(void) {
  static const char *const names[WAITS] = {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait"};
  static struct code found[WAITS];
  static bool sought;
  for (size_t i = 0; i < WAITS && !sought; i++) found[i] = storing_code(names[i]);
  if (!sought) forget_loader_errors();
  sought = true;
  return found;
}

bool thread_has_stored_registers(const struct waiting_thread *thread, const uintptr_t *words, size_t count) {
  const struct code *codes = waits();
  bool has = false;
  /* The stack of a thread in another system call may still contain the return address of an earlier wait. */
  if (thread->call != SYS_futex) return false;
  for (size_t i = 0; i < WAITS; i++) {
    has |= is_in(&codes[i], thread->pc);
    for (size_t j = 0; j < count && j < MOST_WORDS_BELOW; j++) has |= is_in(&codes[i], words[j]);
  }
  return has;
}

void thread_name(char name[THREAD_NAME_BYTES]) {
  KEEP_ERRNO;
  if (prctl(PR_GET_NAME, name) != 0) name[0] = '\0';
}

void thread_name_of(uint32_t id, char name[THREAD_NAME_BYTES]) {
  char path[48];
  snprintf(path, sizeof path, "/proc/self/task/%" PRIu32 "/comm", id);
  name[0] = '\0';
  size_t length = kernel_text(path, name, THREAD_NAME_BYTES);
  if (length > 0 && name[length - 1] == '\n') name[length - 1] = '\0';
}

void thread_set_name(const char *name) { prctl(PR_SET_NAME, name); }

/*
 * Returns the bytes of a thread's stack that glibc needs. glibc puts a copy of all thread-local variables there, which
 * may fill a small stack. No header declares __pthread_get_minstack, but the JVM calls it, too.
 */
static size_t bytes_of_c_library(const pthread_attr_t *attributes) {
  size_t (*minimum)(const pthread_attr_t *);
  void *address = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
  memcpy(&minimum, &address, sizeof minimum);
  if (address) return minimum(attributes);
  forget_loader_errors();
  return 0;
}

size_t thread_start(void *(*run)(void *), size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (!pthread_create || !pthread_attr_setstacksize) return 0; /* The program has no libpthread. */
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  size_t stack = stack_bytes + bytes_of_c_library(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool started = pthread_create(&thread, &attributes, run, NULL) == 0;
  pthread_attr_destroy(&attributes);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return started ? stack : 0;
}
