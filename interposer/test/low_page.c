/*
 * Replaces readlink() by a function that allocates. The library calls readlink() while it still looks for the
 * allocator, so it serves these early objects from its own buffer. The buffer is at a low address, so that free()
 * recognizes early objects with one comparison. With an argument, the mapping of the low address fails, and free()
 * needs two comparisons. In both cases free() must execute fewer than FREE instructions of the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#if !defined(__x86_64__)
int main(void) { return 77; }
#else

#include "own_system_call.h"

#define LOW_ADDRESS 0x10000u
#define EARLY 4

static void *early[EARLY];
static bool forbidden;

/* Returns whether the program's argument is "forbidden". May be called before main(). */
static bool forbids(void) {
  char arguments[4096];
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t length = read(file, arguments, sizeof arguments);
  close(file);
  return length > 0 && memmem(arguments, (size_t)length, "\0forbidden", sizeof "\0forbidden") != NULL;
}

static int error_of_call(long number, const long *arguments) {
  if (number != SYS_mmap || arguments[0] != LOW_ADDRESS || !forbids()) return 0;
  forbidden = true;
  return EPERM;
}

ssize_t readlink(const char *path, char *target, size_t capacity) {
  for (int i = 0; i < EARLY && !early[EARLY - 1]; i++) early[i] = memset(malloc(100), i, 100);
  return syscall(SYS_readlink, path, target, capacity);
}

/* ---- The number of instructions that the library executes ----------------------------------------------- */

static uintptr_t code_begin, code_end;

static int find_code(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(object->dlpi_name, "libmallometer")) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    code_begin = object->dlpi_addr + segment->p_vaddr;
    code_end = code_begin + segment->p_memsz;
  }
  return 1;
}

static unsigned instructions;

static void count(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  instructions += at >= code_begin && at < code_end;
}

static void set_trap_flag(bool on) {
  uint64_t flags;
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tpopq %0\n\tleaq 128(%%rsp), %%rsp" : "=r"(flags));
  flags = on ? flags | 0x100 : flags & ~UINT64_C(0x100);
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushq %0\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" : : "r"(flags) : "memory");
}

/* Returns the fewest instructions of up to 1,000 calls, because calls for sampled objects take more. Stops once a
 * call takes fewer than `enough`. */
static unsigned least_of(void (*call)(void *), unsigned enough) {
  unsigned least = UINT32_MAX;
  for (int i = 0; i < 1000 && least >= enough; i++) {
    void *object = malloc(100);
    instructions = 0;
    set_trap_flag(true);
    call(object);
    set_trap_flag(false);
    if (instructions < least) least = instructions;
  }
  return least;
}

static void *moved;

static void resized(void *object) { moved = realloc(object, 100); }

static void holds(const char *object, char content) {
  for (int i = 0; i < 100; i++) CHECK_EQUAL(object[i], content);
}

int main(int argc, char **argv) {
  (void)argv;
  CHECK(early[EARLY - 1]);
  CHECK(forbidden == (argc > 1));
  CHECK(((uintptr_t)early[0] < 2 * LOW_ADDRESS) == !forbidden);

  dl_iterate_phdr(find_code, NULL);
  struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};
  CHECK_EQUAL(sigaction(SIGTRAP, &action, NULL), 0);
  enum { FREE = 60, REALLOC = 150 };
  if (self().byte_unit != MALLOMETER_UNIT_GLIBC_CHUNK) return 77; /* free takes longer with other allocators */
  unsigned of_free = least_of(free, FREE), of_realloc = least_of(resized, REALLOC);
  printf("%u instructions to free, %u to resize\n", of_free, of_realloc);
  CHECK(of_free > 0 && of_free < FREE);
  CHECK(of_realloc > 0 && of_realloc < REALLOC);

  struct mallometer_counters start = snapshot();
  CHECK(malloc_usable_size(early[0]) >= 100);
  for (int i = 0; i < EARLY; i++) holds(early[i], (char)i);
  char *object = realloc(early[1], 5000);
  holds(object, 1);
  free(object);
  object = realloc(early[2], 50);
  CHECK_EQUAL(object[49], 2);
  free(object);
  for (int i = 0; i < EARLY; i++) free(early[i]); /* the library ignores frees of early objects, even repeated ones */
  free(NULL);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 2);
  CHECK_EQUAL(d.frees, 2);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  mallometer_disable();
  free(realloc(malloc(100), 200));
  free(early[3]);
  return 0;
}
#endif
