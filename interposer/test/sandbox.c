/*
 * Installs a sandbox (a filter of system calls) after the start of the library, which must still record whole stacks.
 *
 * The argument is "strict" or "blind". With either, process_vm_readv() ends the process, so the library must not call
 * it. With "blind", the sandbox also refuses rt_sigprocmask() with an invalid operation, the call by which the library
 * tests whether memory is readable.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))

static bool blind;

static void close_the_sandbox(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, blind ? SYS_rt_sigprocmask : SYS_process_vm_readv, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(77);
}

/* ---- Allocations -------------------------------------------------------------------------------------- */

static NOINLINE void inner(void **object) {
  errno = 4711;
  *object = malloc(333);
  CHECK_EQUAL(errno, 4711);
  USE(*object);
}

static NOINLINE void middle(void **object) {
  inner(object);
  USE(object);
}

static NOINLINE void *in_a_thread(void *object) {
  middle(object);
  USE(object);
  return NULL;
}

static ucontext_t here, there;
static void *of_context;

static void in_a_context(void) {
  middle(&of_context);
  USE(&there);
}

/* ---- Checks of stacks --------------------------------------------------------------------------------- */

static bool is_in(uint64_t address, const void *function) {
  uint64_t begin = (uint64_t)(uintptr_t)function;
  return address > begin && address - begin < 100;
}

/* Searches the recorded stacks whose innermost frame is inner(), and whose third frame, if there is one, is `outer`.
 * Returns the number of frames of the longest one, or 0 if there is none. */
static int longest_to(const void *outer) {
  int longest = 0;
  for (uint32_t site = 0; site < self().call_sites; site++) {
    uint64_t frames[128];
    int count = mallometer_site_stack(site, frames, 128);
    if (count < 1 || !is_in(frames[0], (const void *)(uintptr_t)inner)) continue;
    if (count > 2 && !is_in(frames[2], outer)) continue;
    if (count > longest) longest = count;
  }
  return longest;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  blind = strcmp(argv[1], "blind") == 0;
  close_the_sandbox();

  void *object;
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, in_a_thread, &object), 0);
  pthread_join(thread, NULL);
  free(object);
  int of_thread = longest_to((const void *)(uintptr_t)in_a_thread);
  printf("%d frames of a thread\n", of_thread);
  CHECK(of_thread >= 3);

  static char memory[64 * 1024];
  getcontext(&there);
  there.uc_stack.ss_sp = memory;
  there.uc_stack.ss_size = sizeof memory;
  there.uc_link = &here;
  makecontext(&there, in_a_context, 0);
  swapcontext(&here, &there);
  free(of_context);
  CHECK_EQUAL(self().samples_without_stack, 1);
  return 0;
}
