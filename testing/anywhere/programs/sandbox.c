/*
 * sandbox [NAME=VALUE...] PROGRAM ARGUMENT... : runs a program for which perf_event_open, process_vm_readv,
 * memfd_create and every later execve fail with EPERM, as under the seccomp filters of containers and services.
 *
 * The filter must allow the execve that starts the program. A filter sees only the address of the path, so the path
 * lies at a fixed address, and an execve with this address is allowed. The filter compares only the lower 32 bits of
 * the address.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define PATH_ADDRESS 0x5a5a0000u

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM)

static int fail(const char *what) {
  fprintf(stderr, "sandbox: %s: %s\n", what, strerror(errno));
  return 99;
}

static int refuses(long call) { return syscall(call, 0, 0, 0, 0, 0, 0) == -1 && errno == EPERM; }

int main(int count, char *words[]) {
  struct sock_filter rules[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      ANSWER(SECCOMP_RET_ALLOW),
      LOAD(nr),
      REFUSE(SYS_perf_event_open),
      REFUSE(SYS_process_vm_readv),
      REFUSE(SYS_memfd_create),
      REFUSE(SYS_execveat),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 3),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PATH_ADDRESS, 1, 0),
      ANSWER(SECCOMP_RET_ERRNO | EPERM),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
  int program = 1;
  while (program < count && strchr(words[program], '=')) putenv(words[program++]);
  if (program >= count) return fail("no program");
  char *path = mmap((void *)(uintptr_t)PATH_ADDRESS, 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (path == MAP_FAILED) return fail("mmap");
  snprintf(path, 4096, "%s", words[program]);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail("no_new_privs");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return fail("seccomp");
  if (!refuses(SYS_perf_event_open) || !refuses(SYS_process_vm_readv) || !refuses(SYS_memfd_create)) {
    return fail("a call is not refused");
  }
  execv(path, words + program);
  return fail(path);
}
