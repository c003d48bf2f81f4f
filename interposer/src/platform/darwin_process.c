/* Implements clock.h, kernel.h, thread.h, own_stack.h, wait.h, executable.h, standard_error.h and barrier.h on
 * Darwin, which has no breakpoints (breakpoint.h) and no child processes for tests (child.h). */
#include <crt_externs.h>
#include <errno.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysctl.h>
#include <time.h>
#include <unistd.h>

#include "platform/barrier.h"
#include "platform/breakpoint.h"
#include "platform/child.h"
#include "platform/clock.h"
#include "platform/executable.h"
#include "platform/keep_errno.h"
#include "platform/kernel.h"
#include "platform/own_stack.h"
#include "platform/standard_error.h"
#include "platform/thread.h"
#include "platform/wait.h"

/* ---- Clocks: read without system calls (except the CPU time), so that malloc may use them ---------------- */

void clock_start(void) {}

/* Reads the clock that System.nanoTime() reads, too. */
uint64_t monotonic_ns(void) { return clock_gettime_nsec_np(CLOCK_UPTIME_RAW); }

uint64_t realtime_ns(void) { return clock_gettime_nsec_np(CLOCK_REALTIME); }

uint64_t thread_cpu_ns(void) { return clock_gettime_nsec_np(CLOCK_THREAD_CPUTIME_ID); }

uint64_t coarse_monotonic_ns(void) { return monotonic_ns(); }

uint64_t coarse_realtime_ns(void) { return realtime_ns(); }

void coarse_clock_advance(uint64_t ns) { (void)ns; }

/* ---- Memory -------------------------------------------------------------------------------------------- */

_Static_assert(offsetof(task_vm_info_data_t, resident_size) == 16, "TaskInfo.java reads resident_size at offset 16");
_Static_assert(TASK_VM_INFO == 22 && TASK_VM_INFO_REV1_COUNT == 38, "TaskInfo.java uses these numbers");

static bool read_task(task_vm_info_data_t *info) {
  mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
  return task_info(mach_task_self(), TASK_VM_INFO, (task_info_t)info, &count) == KERN_SUCCESS;
}

struct process_memory process_memory(void) {
  task_vm_info_data_t info;
  if (!read_task(&info)) return (struct process_memory){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
  /* Darwin does not report private writable memory. The size of the address space is an upper bound. */
  return (struct process_memory){info.virtual_size, info.resident_size, info.internal, info.virtual_size};
}

/* Returns the bytes that are compressed, whether they are in memory or swapped out. */
uint64_t process_swapped_bytes(void) {
  task_vm_info_data_t info;
  return read_task(&info) ? info.compressed : UINT64_MAX;
}

/* Darwin has no cgroups. memory_charged() reports the footprint instead. */
void memory_cgroup_find(struct memory_cgroup *cgroup) { *cgroup = (struct memory_cgroup){0}; }

uint64_t memory_charged(const struct memory_cgroup *cgroup) {
  struct memory_reading reading;
  memory_read(cgroup, &reading);
  return reading.charged_bytes;
}

void memory_read(const struct memory_cgroup *cgroup, struct memory_reading *reading) {
  task_vm_info_data_t info;
  (void)cgroup;
  bool told = read_task(&info);
  reading->resident_bytes = told ? info.resident_size : UINT64_MAX;
  reading->charged_bytes = told ? info.phys_footprint : UINT64_MAX;
  reading->oom_kills = UINT64_MAX;
}

void memory_read_rest(const struct memory_cgroup *cgroup, struct memory_reading *reading) {
  (void)cgroup;
  reading->limit_bytes = reading->file_bytes = UINT64_MAX;
}

/* ---- The process --------------------------------------------------------------------------------------- */

static bool read_process(struct kinfo_proc *process) {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()};
  size_t bytes = sizeof *process;
  return sysctl(name, sizeof name / sizeof *name, process, &bytes, NULL, 0) == 0 && bytes == sizeof *process;
}

bool process_is_traced(void) {
  struct kinfo_proc process;
  return !read_process(&process) || (process.kp_proc.p_flag & P_TRACED);
}

/* Returns the start of the process in microseconds since 1970. Callers need only a number that differs between
 * processes with the same id. */
uint64_t process_start_ticks(void) {
  struct kinfo_proc process;
  if (!read_process(&process)) return 0;
  const struct timeval *began = &process.kp_proc.p_starttime;
  return (uint64_t)began->tv_sec * 1000000 + (uint64_t)began->tv_usec;
}

void machine_run_id(char *id, size_t capacity) {
  char text[64] = "";
  size_t bytes = sizeof text - 1;
  if (sysctlbyname("kern.bootsessionuuid", text, &bytes, NULL, 0) != 0) text[0] = '\0';
  strlcpy(id, text, capacity);
}

bool random_bytes(void *to, size_t bytes) {
  enum { MOST_AT_ONCE = 256 };
  for (size_t done = 0; done < bytes; done += MOST_AT_ONCE) {
    size_t next = bytes - done < MOST_AT_ONCE ? bytes - done : MOST_AT_ONCE;
    if (getentropy((char *)to + done, next) != 0) return false;
  }
  return true;
}

const char *executable_path(char *path, size_t capacity) {
  uint32_t bytes = (uint32_t)capacity;
  return _NSGetExecutablePath(path, &bytes) == 0 ? path : executable_name();
}

const char *executable_name(void) { return getprogname(); }

char **process_environment(void) { return *_NSGetEnviron(); }

bool executable_is_privileged(void) { return issetugid() != 0; }

/* ---- Threads ------------------------------------------------------------------------------------------- */

uint32_t thread_id(void) {
  uint64_t id = 0;
  pthread_threadid_np(NULL, &id);
  return (uint32_t)id;
}

uint32_t thread_id_known(void) { return thread_id(); }

size_t thread_ids(uint32_t *ids, size_t capacity) {
  (void)ids, (void)capacity;
  return 0;
}

uintptr_t thread_robust_list(uint32_t id) {
  (void)id;
  return 0;
}

bool thread_waits(uint32_t id, struct waiting_thread *thread) {
  (void)id, (void)thread;
  return false;
}

bool thread_sleeps(uint32_t id) {
  (void)id;
  return false;
}

bool thread_has_stored_registers(const struct waiting_thread *thread, const uintptr_t *words, size_t count) {
  (void)thread, (void)words, (void)count;
  return false;
}

void thread_name(char name[THREAD_NAME_BYTES]) {
  char whole[64];
  name[0] = '\0';
  if (pthread_getname_np(pthread_self(), whole, sizeof whole) == 0) strlcpy(name, whole, THREAD_NAME_BYTES);
}

void thread_name_of(uint32_t id, char name[THREAD_NAME_BYTES]) {
  (void)id;
  name[0] = '\0';
}

void thread_set_name(const char *name) { pthread_setname_np(name); }

size_t thread_start(void *(*run)(void *), size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool started = pthread_create(&thread, &attributes, run, NULL) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started ? stack_bytes : 0;
}

/* Does nothing: a thread's control block has both bounds of the thread's stack. */
void own_stacks_start(void) {}

bool own_stack_at(uintptr_t stack, struct own_stack *own) {
  pthread_t self = pthread_self();
  own->end = (uintptr_t)pthread_get_stackaddr_np(self);
  own->begin = own->end - pthread_get_stacksize_np(self);
  return stack >= own->begin && stack < own->end;
}

size_t own_stack_left(uintptr_t stack) {
  struct own_stack own;
  return own_stack_at(stack, &own) ? stack - own.begin : 0;
}

size_t signal_frame_bytes(void) { return MINSIGSTKSZ; }

/* A fence is enough on Darwin. The caller, mallometer_attach(), afterwards changes page protections
 * (page_protection.h). For such a change the kernel interrupts all processors, which is a barrier for all threads. */
void barrier_for_all_threads(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* ---- Waiting ------------------------------------------------------------------------------------------- */

/* libSystem exports these functions since macOS 10.12, but no header declares them. `longest_us` is the longest wait;
 * 0 is no limit. */
extern int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t longest_us);
extern int __ulock_wake(uint32_t operation, void *address, uint64_t unused);
#define COMPARE_AND_WAIT 1u

void wait_for_change(const uint32_t *word, uint32_t seen, uint64_t longest_ns) {
  uint64_t us = longest_ns == WAIT_WITHOUT_LIMIT ? 0 : longest_ns / 1000 + 1;
  __ulock_wait(COMPARE_AND_WAIT, (void *)(uintptr_t)word, seen, us > UINT32_MAX ? UINT32_MAX : (uint32_t)us);
}

void wait_wake(const uint32_t *word) {
  KEEP_ERRNO;
  __ulock_wake(COMPARE_AND_WAIT, (void *)(uintptr_t)word, 0);
}

void wait_until(uint64_t moment_ns) {
  const uint64_t second = 1000000000, now = monotonic_ns();
  if (now >= moment_ns) return;
  struct timespec rest = {(time_t)((moment_ns - now) / second), (long)((moment_ns - now) % second)};
  nanosleep(&rest, NULL);
}

/* ---- Standard error ------------------------------------------------------------------------------------ */

/*
 * This is write(2) without a cancellation point. The kernel sends SIGPIPE to the process, so blocking it in this
 * thread is not enough. Instead, SIGPIPE is disabled for the open file description during the write, also for other
 * threads.
 */
extern ssize_t write_without_cancel(int file, const void *from, size_t bytes) __asm__("_write$NOCANCEL");

void standard_error_write(const char *bytes, size_t length) {
  bool sends = fcntl(STDERR_FILENO, F_GETNOSIGPIPE) == 0;
  if (sends && fcntl(STDERR_FILENO, F_SETNOSIGPIPE, 1) != 0) return;
  (void)write_without_cancel(STDERR_FILENO, bytes, length);
  if (sends) (void)fcntl(STDERR_FILENO, F_SETNOSIGPIPE, 0);
}

/* ---- Functions that Darwin lacks ----------------------------------------------------------------------- */

int breakpoint_open(const void *address, bool writes_only, uint32_t touches, uint64_t data) {
  (void)address, (void)writes_only, (void)touches, (void)data;
  return -ENOSYS;
}

int breakpoint_open_idle(void) { return -ENOSYS; }

void breakpoint_close(int descriptor) { (void)descriptor; }

bool breakpoint_trap_of(const siginfo_t *information, struct breakpoint_trap *trap) {
  (void)information, (void)trap;
  return false;
}

int child_run(const char *argument, char *const environment[], unsigned longest_ms) {
  (void)argument, (void)environment, (void)longest_ms;
  return CHILD_NOT_STARTED;
}

void child_disable_core_dump(void) {}
