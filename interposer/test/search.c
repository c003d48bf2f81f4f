/*
 * Tests the search of the process's memory for addresses of sampled objects. An object is lost if its address is
 * found nowhere. The search must look wherever a program can keep addresses. It must not make memory resident, fault,
 * or make an object count as accessed. The first argument names the case.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))
#define MEBIBYTE ((size_t)1 << 20)
enum { MOST_ROWS = 8192, EACH = 20, DROPPED = 100, SIZE = 100, SECONDS = 60 };

static struct mallometer_sought rows[MOST_ROWS];
static struct mallometer_searched found;
static int row_count;

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

/* ---- Searches ------------------------------------------------------------------------------------------ */

static bool is_in(uint64_t address, const void *function) {
  uint64_t begin = (uint64_t)(uintptr_t)function;
  return address > begin && address - begin < 64;
}

static uint32_t sites_of(const void *function, uint32_t sites[64]) {
  uint32_t count = 0;
  for (uint32_t site = 0; site < self().call_sites && count < 64; site++) {
    uint64_t innermost = 0;
    if (mallometer_site_stack(site, &innermost, 1) == 1 && is_in(innermost, function)) sites[count++] = site;
  }
  CHECK(count > 0);
  return count;
}

static void start(const void *function, uint64_t most_bytes) {
  uint32_t sites[64], count = sites_of(function, sites);
  CHECK_EQUAL(mallometer_search_start(sites, count, most_bytes), 0);
}

static void look(void) {
  found = (struct mallometer_searched){0};
  row_count = mallometer_search(&found, rows, MOST_ROWS);
  CHECK(row_count >= 0);
}

static void wait_for(uint32_t state) {
  double begin = seconds();
  for (look(); found.state == MALLOMETER_SEARCH_RUNNING; look()) {
    CHECK(seconds() - begin < SECONDS);
    pause_ms(5);
  }
  if (found.state != state) fprintf(stderr, "reason: %s\n", found.reason);
  CHECK_EQUAL(found.state, state);
}

static void search(const void *function) {
  start(function, UINT64_MAX);
  wait_for(MALLOMETER_SEARCH_DONE);
  CHECK_EQUAL(row_count, found.objects);
  CHECK(found.searched_bytes > 0 && found.searched_bytes <= found.resident_bytes);
  CHECK(found.ended_ns > found.began_ns && found.cpu_ns > 0 && found.cpu_ns < found.ended_ns - found.began_ns);
}

static unsigned lost(void) {
  unsigned count = 0;
  for (int i = 0; i < row_count; i++) count += rows[i].references == 0 && !rows[i].freed;
  return count;
}

static unsigned freed(void) {
  unsigned count = 0;
  for (int i = 0; i < row_count; i++) count += rows[i].freed;
  return count;
}

/* Overwrites values that returned functions have left on the stack, among them addresses of objects. */
static NOINLINE void forget_stack(void) {
  char nothing[65536];
  memset(nothing, 0, sizeof nothing);
  USE(nothing);
}

/* Checks that the dropped objects are lost. Allows three exceptions, because some words may look like addresses of
 * objects by chance. */
static void check_lost(unsigned dropped) {
  printf("%u of %u are lost\n", lost(), dropped);
  CHECK_EQUAL(row_count, dropped);
  CHECK(lost() + 3 >= dropped);
}

static void check_held(unsigned held) {
  CHECK_EQUAL(row_count, held);
  CHECK_EQUAL(lost(), 0);
}

/* ---- Objects ------------------------------------------------------------------------------------------- */

/* Defines a function that allocates. Each such function is a call site of its own. */
#define ALLOCATES(name)                                                  \
  __attribute__((aligned(64))) static NOINLINE void *name(size_t size) { \
    void *object = malloc(size);                                         \
    USE(object);                                                         \
    return object;                                                       \
  }

ALLOCATES(dropped)
ALLOCATES(circular)
ALLOCATES(of_itself)
ALLOCATES(table_of)
ALLOCATES(held)

/* Returns the object's address with all bits inverted, which a search does not recognize. */
static uintptr_t hidden(const void *object) { return ~(uintptr_t)object; }

static uintptr_t hiding_place[DROPPED];

static NOINLINE void drop(unsigned count, size_t size) {
  for (unsigned i = 0; i < count; i++) hiding_place[i % DROPPED] = hidden(dropped(size));
}

static void *in_globals[EACH];
static _Thread_local void *in_thread_locals[EACH];

/* ---- Places in which addresses are found --------------------------------------------------------------- */

static void held_by_each_way(void) {
  void *on_stack[EACH], **on_heap = malloc(sizeof on_stack);
  void **mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static uintptr_t tagged_above[EACH], tagged_below[EACH], inside[EACH], last[EACH];
  unsigned ways = 0;
  CHECK(on_heap && mapped != MAP_FAILED);
  for (volatile unsigned i = 0; i < EACH; i++) {
    ways = 0;
    in_globals[i] = held(SIZE), ways++;
    in_thread_locals[i] = held(SIZE), ways++;
    on_stack[i] = held(SIZE), ways++;
    on_heap[i] = held(SIZE), ways++;
    mapped[i] = held(SIZE), ways++;
    tagged_above[i] = (uintptr_t)held(SIZE) | (uintptr_t)0xabcd << 48, ways++;
    tagged_below[i] = (uintptr_t)held(SIZE) | 7, ways++;
    inside[i] = (uintptr_t)held(SIZE) + SIZE / 2, ways++;
    last[i] = (uintptr_t)held(SIZE) + SIZE - 1, ways++;
  }
  forget_stack();
  search((const void *)(uintptr_t)held);
  USE(on_stack);
  USE(in_thread_locals);
  USE(tagged_above);
  USE(tagged_below);
  USE(inside);
  USE(last);
  check_held(ways * EACH);
  for (int i = 0; i < row_count; i++) {
    CHECK(rows[i].bytes >= SIZE && rows[i].bytes < SIZE + 16 && rows[i].probability == 1);
    CHECK(rows[i].born_ns > 0 && rows[i].born_ns <= found.began_ns);
    for (int j = 0; j < i; j++) CHECK(rows[i].id != rows[j].id);
  }
}

static void held_by_shared_memory(void) {
  void **shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  for (volatile unsigned i = 0; i < EACH; i++) shared[i] = held(SIZE);
  forget_stack();
  search((const void *)(uintptr_t)held);
  check_held(EACH);
}

/* Keeps only the address behind the last byte of each dropped object. The objects must count as lost. */
static void dropped_ones_are_lost(void) {
  static uintptr_t behind[DROPPED];
  drop(DROPPED, SIZE);
  for (unsigned i = 0; i < DROPPED; i++) behind[i] = ~hiding_place[i] + malloc_usable_size((void *)~hiding_place[i]);
  forget_stack();
  search((const void *)(uintptr_t)dropped);
  check_lost(DROPPED);
  uint64_t first = rows[0].id;
  search((const void *)(uintptr_t)dropped);
  check_lost(DROPPED);
  CHECK_EQUAL(rows[0].id, first);
  USE(behind);
}

static NOINLINE void make_links(void) {
  uintptr_t first = 0, before = 0;
  for (volatile unsigned i = 0; i < DROPPED; i++) {
    void **of_self = of_itself(SIZE);
    of_self[0] = of_self;
    of_self[3] = &of_self[3];
    void **next = circular(SIZE);
    next[0] = (void *)~before;
    if (i == 0) first = hidden(next);
    before = hidden(next);
  }
  ((void **)~first)[0] = (void *)~before;
}

/* An object to which only the object itself refers must count as lost. Objects that refer to each other in a circle
 * must not. */
static void links_of_lost_objects(void) {
  make_links();
  forget_stack();
  search((const void *)(uintptr_t)of_itself);
  check_lost(DROPPED);
  search((const void *)(uintptr_t)circular);
  check_held(DROPPED);
}

enum { TABLE = 4000 };

static NOINLINE void **fill_table(void) {
  void **table = malloc(TABLE * sizeof *table);
  CHECK(table);
  for (unsigned i = 0; i < TABLE; i++) table[i] = NULL;
  for (volatile unsigned i = 0; i < DROPPED; i++) table[TABLE / DROPPED * i + 20] = held(SIZE);
  return table;
}

/* Freed memory can still contain addresses of objects. The search must ignore them. */
static void addresses_in_freed_memory_are_none(void) {
  void **table = fill_table();
  void *behind = malloc(SIZE);
  forget_stack();
  search((const void *)(uintptr_t)held);
  check_held(DROPPED);
  free(table);
  uintptr_t hidden_table = hidden(table);
  forget_stack();
  search((const void *)(uintptr_t)held);
  check_lost(DROPPED);
  /* Allocates parts of the freed memory again. These parts still contain addresses of objects, which the search must
   * now find. */
  void *again[EACH];
  unsigned in_use = 0;
  for (unsigned i = 0; i < EACH; i++) again[i] = malloc(TABLE / 4 * sizeof *table);
  for (unsigned i = 0; i < DROPPED; i++) {
    uintptr_t place = ~hidden_table + (TABLE / DROPPED * i + 20) * sizeof *table;
    for (unsigned j = 0; j < EACH; j++) in_use += place - (uintptr_t)again[j] < TABLE / 4 * sizeof *table;
  }
  search((const void *)(uintptr_t)held);
  printf("%u of %u are lost, %u are in memory in use\n", lost(), (unsigned)DROPPED, in_use);
  CHECK(in_use > 0 && lost() <= DROPPED - in_use + EACH / 4 && lost() + in_use + EACH / 4 >= DROPPED);
  USE(again);
  USE(behind);
}

static void addresses(void) {
  held_by_each_way();
  dropped_ones_are_lost();
  links_of_lost_objects();
}

/* ---- Registers ----------------------------------------------------------------------------------------- */

enum { THREADS_WITH_REGISTERS = 8, REGISTERS = 6 };

static pthread_mutex_t may_wait = PTHREAD_MUTEX_INITIALIZER;
static unsigned waiting;

#ifdef __x86_64__
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

/* Waits for a condition while the objects' addresses are in six callee-saved registers and nowhere else. */
int wait_with_registers(pthread_cond_t *condition, pthread_mutex_t *mutex, const uintptr_t hidden_objects[REGISTERS]);
__asm__(
    ".text\n.globl wait_with_registers\n.type wait_with_registers, @function\nwait_with_registers:\n"
    "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\nsub $8, %rsp\n"
    "mov (%rdx), %rbx\nmov 8(%rdx), %rbp\nmov 16(%rdx), %r12\nmov 24(%rdx), %r13\nmov 32(%rdx), %r14\n"
    "mov 40(%rdx), %r15\nnot %rbx\nnot %rbp\nnot %r12\nnot %r13\nnot %r14\nnot %r15\n"
    "call pthread_cond_wait@PLT\n"
    "add $8, %rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");
#endif

static void *waits_with_registers(void *hidden_objects) {
  pthread_mutex_lock(&may_wait);
  waiting++;
#ifdef __x86_64__
  for (;;) wait_with_registers(&never, &may_wait, hidden_objects);
#endif
  return hidden_objects;
}

static int empty_pipe[2];

static void *reads_for_ever(void *hidden_object) {
  return read(empty_pipe[0], (void *)~*(uintptr_t *)hidden_object, SIZE) < 0 ? hidden_object : NULL;
}

static void *runs_for_ever(void *unused) {
  for (volatile unsigned i = 0;; i++) continue;
  return unused;
}

static NOINLINE void hide_held(uintptr_t *hidden_objects, unsigned count) {
  for (volatile unsigned i = 0; i < count; i++) hidden_objects[i] = hidden(held(SIZE));
}

static void held_by_registers(void) {
  static uintptr_t waited[THREADS_WITH_REGISTERS][REGISTERS], read_into[EACH];
  pthread_t thread;
#ifndef __x86_64__
  exit(77);
#endif
  hide_held(waited[0], THREADS_WITH_REGISTERS * REGISTERS);
  hide_held(read_into, EACH);
  CHECK_EQUAL(pipe(empty_pipe), 0);
  for (unsigned i = 0; i < THREADS_WITH_REGISTERS; i++) {
    CHECK_EQUAL(pthread_create(&thread, NULL, waits_with_registers, waited[i]), 0);
  }
  for (unsigned i = 0; i < EACH; i++) CHECK_EQUAL(pthread_create(&thread, NULL, reads_for_ever, &read_into[i]), 0);
  for (unsigned begun = 0; begun < THREADS_WITH_REGISTERS; pause_ms(5)) {
    pthread_mutex_lock(&may_wait);
    begun = waiting;
    pthread_mutex_unlock(&may_wait);
  }
  pause_ms(50);
  forget_stack();
  search((const void *)(uintptr_t)held);
  check_held(THREADS_WITH_REGISTERS * REGISTERS + EACH);
  /* The search cannot read all registers of the threads that wait in read(), nor those of the present thread. */
  CHECK_EQUAL(found.unread_threads, EACH + 1);
  for (int i = 0; i < 2; i++) CHECK_EQUAL(pthread_create(&thread, NULL, runs_for_ever, NULL), 0);
  search((const void *)(uintptr_t)held);
  CHECK_EQUAL(found.unread_threads, EACH + 3);
}

/* ---- Filters of system calls --------------------------------------------------------------------------- */

static void refuse(long call, uint32_t by) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, by),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(77);
}

/* ---- Concurrent changes -------------------------------------------------------------------------------- */

static char *touched(size_t bytes) {
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
  return memory;
}

static void wait_for_progress(void) {
  for (look(); found.state == MALLOMETER_SEARCH_RUNNING && found.searched_bytes < MEBIBYTE; look()) pause_ms(1);
  CHECK_EQUAL(found.state, MALLOMETER_SEARCH_RUNNING);
}

static void freed_meanwhile(void) {
  touched(256 * MEBIBYTE);
  drop(DROPPED, SIZE);
  for (volatile int i = 0; i < EACH; i++) in_globals[i] = dropped(SIZE);
  start((const void *)(uintptr_t)dropped, UINT64_MAX);
  uint32_t site = 0;
  CHECK_EQUAL(mallometer_search_start(&site, 1, UINT64_MAX), -EBUSY);
  wait_for_progress();
  CHECK_EQUAL(row_count, 0);
  for (int i = 0; i < EACH; i++) free(in_globals[i]);
  wait_for(MALLOMETER_SEARCH_DONE);
  CHECK_EQUAL(row_count, DROPPED + EACH);
  CHECK_EQUAL(freed(), EACH);
  CHECK(found.number == 1 && found.searched_bytes >= 256 * MEBIBYTE);
  CHECK(self().overhead_ns >= found.cpu_ns);
}

static volatile bool ends;

static void *maps_and_unmaps(void *count) {
  while (!ends) {
    char *memory = mmap(NULL, MEBIBYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    for (size_t i = 0; i < MEBIBYTE; i += 4096) memory[i] = 1;
    if (*(uint64_t *)count % 3 == 0) CHECK_EQUAL(mprotect(memory, 4096 * 5, PROT_NONE), 0);
    CHECK_EQUAL(munmap(memory, MEBIBYTE), 0);
    ++*(uint64_t *)count;
  }
  return NULL;
}

static void unmapped_meanwhile(void) {
  enum { THREADS = 3, SEARCHES = 5 };
  static uint64_t counts[THREADS];
  pthread_t threads[THREADS];
  touched(32 * MEBIBYTE);
  drop(DROPPED, SIZE);
  forget_stack();
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, maps_and_unmaps, &counts[i]), 0);
  for (int i = 0; i < SEARCHES; i++) {
    search((const void *)(uintptr_t)dropped);
    check_lost(DROPPED);
  }
  ends = true;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%" PRIu64 " mappings came and went\n", counts[0]);
}

static uint64_t resident_bytes(void) {
  unsigned long all, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%lu %lu", &all, &resident) == 2);
  fclose(file);
  return (uint64_t)resident * 4096;
}

static void untouched_memory_stays_so(void) {
  static char written[MEBIBYTE];
  int file = memfd_create("untouched", MFD_CLOEXEC);
  for (int i = 0; i < 64; i++) CHECK_EQUAL(write(file, written, sizeof written), sizeof written);
  CHECK(mmap(NULL, 64 * MEBIBYTE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED);
  char *memory = mmap(NULL, 512 * MEBIBYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  madvise(memory, 512 * MEBIBYTE, MADV_HUGEPAGE);
  memory[0] = memory[300 * MEBIBYTE] = 1;
  drop(DROPPED, SIZE);
  search((const void *)(uintptr_t)dropped); /* makes the library's tables resident before the comparison */
  uint64_t before = resident_bytes(), swapped = found.swapped_bytes;
  madvise(memory + 100 * MEBIBYTE, 4096, 102 /* MADV_GUARD_INSTALL */);
  search((const void *)(uintptr_t)dropped);
  uint64_t after = resident_bytes();
  CHECK_EQUAL(found.swapped_bytes, swapped);
  printf("%" PRIu64 " KiB resident, then %" PRIu64 "; %" PRIu64 " KiB searched\n", before >> 10, after >> 10,
         found.searched_bytes >> 10);
  CHECK(after < before + MEBIBYTE);
  CHECK(found.searched_bytes < 64 * MEBIBYTE);
  if (getenv("NO_PAGEMAP")) CHECK(found.resident_bytes >= found.searched_bytes + 64 * MEBIBYTE);
}

static void no_more_than_that_is_read(void) {
  touched(64 * MEBIBYTE);
  drop(DROPPED, SIZE);
  start((const void *)(uintptr_t)dropped, 8 * MEBIBYTE);
  wait_for(MALLOMETER_SEARCH_DONE);
  CHECK(found.searched_bytes >= 8 * MEBIBYTE && found.searched_bytes <= 9 * MEBIBYTE);
  CHECK(found.resident_bytes >= 64 * MEBIBYTE);
}

static void forks_meanwhile(void) {
  int status;
  touched(256 * MEBIBYTE);
  drop(DROPPED, SIZE);
  start((const void *)(uintptr_t)dropped, UINT64_MAX);
  wait_for_progress();
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    uint32_t site = 0;
    look();
    CHECK_EQUAL(found.state, MALLOMETER_SEARCH_FAILED);
    CHECK(strstr(found.reason, "forked"));
    CHECK_EQUAL(mallometer_search_start(&site, 1, UINT64_MAX), -ECHILD);
    free(malloc(SIZE));
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
  wait_for(MALLOMETER_SEARCH_DONE);
  start((const void *)(uintptr_t)dropped, UINT64_MAX); /* this search runs until the process ends */
}

static unsigned descriptors(const char *named) {
  unsigned count = 0;
  for (int file = 0; file < 64; file++) {
    char link[32], name[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    count += readlink(link, name, sizeof name - 1) > 0 && strstr(name, named);
  }
  return count;
}

/* A search reads memory through descriptors of a pipe and of /proc/self/pagemap. A forked child must not inherit
 * them. */
static void forks_have_no_descriptors(void) {
  unsigned pipes = descriptors("pipe:"), forks = 0;
  refuse(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM);
  touched(128 * MEBIBYTE);
  drop(DROPPED, SIZE);
  start((const void *)(uintptr_t)dropped, UINT64_MAX);
  for (look(); found.state == MALLOMETER_SEARCH_RUNNING; look(), forks++) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(descriptors("pipe:") != pipes || descriptors("pagemap") != 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 0);
  }
  printf("%u forks\n", forks);
  wait_for(MALLOMETER_SEARCH_DONE);
}

static void switched_off_meanwhile(void) {
  touched(64 * MEBIBYTE);
  drop(DROPPED, SIZE);
  start((const void *)(uintptr_t)dropped, UINT64_MAX);
  CHECK_EQUAL(mallometer_disable(), 0);
  wait_for(MALLOMETER_SEARCH_DONE);
}

static void nonsense_is_refused(void) {
  uint32_t sites[65] = {0};
  look();
  CHECK_EQUAL(found.state, MALLOMETER_SEARCH_NONE);
  CHECK_EQUAL(found.number, 0);
  CHECK_EQUAL(mallometer_search_start(sites, 65, 0), -EINVAL);
  CHECK_EQUAL(mallometer_search_start(sites, 0, 0), -EINVAL);
  CHECK_EQUAL(mallometer_search_start(NULL, 1, 0), -EINVAL);
  CHECK_EQUAL(mallometer_search(&found, NULL, 1), -EINVAL);
  CHECK_EQUAL(mallometer_search(NULL, rows, 1), -EINVAL);
}

/* ---- Sandboxes ----------------------------------------------------------------------------------------- */

static void refused_reading(void) {
  refuse(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM);
  addresses();
}

static void deadly_reading(void) {
  refuse(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS);
  addresses();
}

/* A call of mincore() ends the process in this sandbox. The library calls mincore() only if it cannot read
 * /proc/self/pagemap, and first in a child process. If the child is killed, the search fails. */
static void deadly_mincore(void) {
  refuse(SYS_mincore, SECCOMP_RET_KILL_PROCESS);
  drop(DROPPED, SIZE);
  forget_stack();
  start((const void *)(uintptr_t)dropped, UINT64_MAX);
  if (getenv("NO_PAGEMAP")) {
    wait_for(MALLOMETER_SEARCH_FAILED);
    CHECK(strstr(found.reason, "pagemap and mincore"));
  } else {
    wait_for(MALLOMETER_SEARCH_DONE);
    check_lost(DROPPED);
  }
}

static void refused_pipes(void) {
  refuse(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM);
  refuse(SYS_pipe2, SECCOMP_RET_ERRNO | EPERM);
  drop(DROPPED, SIZE);
  start((const void *)(uintptr_t)dropped, UINT64_MAX);
  wait_for(MALLOMETER_SEARCH_FAILED);
  CHECK(strstr(found.reason, "may not read its own memory"));
  CHECK_EQUAL(row_count, 0);
}

/* ---- Objects in slots: pages of their own, which show accesses ----------------------------------------- */

static bool is_slot(const void *object) { return (uintptr_t)object >= 0x10000000 && (uintptr_t)object < 0x100000000; }

static struct mallometer_observation observed(void) {
  struct mallometer_observation o = {0};
  CHECK_EQUAL(mallometer_leaks(&o), 0);
  return o;
}

static void observe(void) {
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SHORTEST_EPOCH, 100), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_EPOCH_OVER_COST, 10), 0);
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) pause_ms(1);
  CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_ON);
}

static void wait_for_epochs(unsigned count) {
  uint64_t valid = observed().epochs - observed().void_epochs + count;
  for (double begin = seconds(); observed().epochs - observed().void_epochs < valid; pause_ms(5)) {
    CHECK(seconds() - begin < SECONDS);
  }
}

static void *in_slot(void *(*allocate)(size_t), size_t size) {
  for (double begin = seconds();;) {
    CHECK(seconds() - begin < SECONDS);
    void *object = allocate(size);
    if (is_slot(object)) return object;
    free(object);
    pause_ms(1);
  }
}

static NOINLINE void fill(void **table, unsigned count, size_t size) {
  for (volatile unsigned i = 0; i < count; i++) table[i] = held(size);
}

/* The only addresses of some objects are in another object that has a page of its own (a slot). The search must find
 * them there. The objects have 40,000 bytes, because large objects are always sampled. */
static void the_only_addresses_are_in_a_slot(void) {
  observe();
  uintptr_t table = hidden(in_slot(table_of, EACH * sizeof(void *)));
  fill((void **)~table, EACH, 40000);
  forget_stack();
  search((const void *)(uintptr_t)held);
  check_held(EACH);
  memset((void *)~table, 0, EACH * sizeof(void *));
  forget_stack();
  search((const void *)(uintptr_t)held);
  check_lost(EACH);
  CHECK_EQUAL(mallometer_leaks_stop(), 0);
  search((const void *)(uintptr_t)held);
  check_lost(EACH);
}

/* Returns how many objects of `bytes` bytes in slots (pages of their own) were last accessed before `moment`. */
static unsigned idle_since(uint64_t moment, uint64_t bytes) {
  static struct mallometer_object objects[70000];
  int count = mallometer_objects(objects, 70000);
  unsigned idle = 0;
  for (int i = 0; i < count; i++) {
    idle += objects[i].placement > 0 && objects[i].bytes == bytes && objects[i].last_access_ns < moment;
  }
  return idle;
}

/*
 * Waits until an epoch has passed in which no object was accessed. An epoch is the time between two readings of the
 * accessed bits. Returns the end of the epoch.
 *
 * Linux does not clear the accessed bits of the latest 31 pages that a processor touched for the first time. The
 * function therefore touches other pages first.
 */
static uint64_t wait_until_idle(unsigned objects, uint64_t bytes) {
  enum { OTHERS = 64 * 4096 };
  for (double begin = seconds();;) {
    CHECK(seconds() - begin < SECONDS);
    void *others = mmap(NULL, OTHERS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(others != MAP_FAILED);
    memset(others, 1, OTHERS);
    wait_for_epochs(2);
    munmap(others, OTHERS);
    uint64_t end = observed().epoch_end_ns;
    if (idle_since(end, bytes) == objects) return end;
  }
}

static void idle_objects_stay_idle(void) {
  enum { OBJECTS = 20, SIZE_IN_SLOT = 1000 };
  static void *objects[OBJECTS];
  observe();
  for (int i = 0; i < OBJECTS; i++) objects[i] = in_slot(table_of, SIZE_IN_SLOT);
  uint64_t before = wait_until_idle(OBJECTS, SIZE_IN_SLOT);
  for (int i = 0; i < 3; i++) {
    search((const void *)(uintptr_t)table_of);
    CHECK_EQUAL(lost(), 0);
    wait_for_epochs(2); /* an access by the search would be noticed at the end of an epoch */
  }
  CHECK_EQUAL(idle_since(before, SIZE_IN_SLOT), OBJECTS);
  for (int i = 0; i < OBJECTS; i++) ((volatile char *)objects[i])[1] = 1;
  wait_for_epochs(2);
  CHECK_EQUAL(idle_since(before, SIZE_IN_SLOT), 0);
}

/* ---- Cost ---------------------------------------------------------------------------------------------- */

/* Measures a search for objects of `size` bytes in 1 GiB of memory like a Java heap: pairs of 32-bit references,
 * small numbers, and zeros. */
static void cost_of(size_t size) {
  uint64_t bytes = 1024 * MEBIBYTE, state = 88172645463325252u;
  uint64_t *words = (uint64_t *)(void *)touched(bytes);
  for (size_t i = 0; i < bytes / sizeof *words; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    words[i] = i % 4 == 0 ? 0 : i % 4 == 1 ? state & 0xffff : state & 0xffffffff7fffffff;
  }
  for (unsigned i = 0; i < 20; i++) drop(DROPPED, size);
  search((const void *)(uintptr_t)dropped);
  printf("%" PRIu32 " objects of %zu bytes, %" PRIu64 " MiB: %.2f s of processor time a GiB, %.1f s\n", found.objects,
         size, found.searched_bytes >> 20,
         (double)found.cpu_ns / (double)found.searched_bytes * (double)(1 << 30) / 1e9,
         (double)(found.ended_ns - found.began_ns) / 1e9);
}

static void cost(void) { cost_of(SIZE); }

static void cost_with_large_objects(void) { cost_of(MEBIBYTE); }

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"addresses", addresses},
               {"shared", held_by_shared_memory},
               {"registers", held_by_registers},
               {"free", addresses_in_freed_memory_are_none},
               {"freed", freed_meanwhile},
               {"unmapped", unmapped_meanwhile},
               {"untouched", untouched_memory_stays_so},
               {"limit", no_more_than_that_is_read},
               {"forks", forks_meanwhile},
               {"descriptors", forks_have_no_descriptors},
               {"off", switched_off_meanwhile},
               {"nonsense", nonsense_is_refused},
               {"refused", refused_reading},
               {"deadly", deadly_reading},
               {"deadly_mincore", deadly_mincore},
               {"blind", refused_pipes},
               {"table", the_only_addresses_are_in_a_slot},
               {"idle", idle_objects_stay_idle},
               {"cost", cost},
               {"large", cost_with_large_objects}};
  setbuf(stdout, NULL);
  for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(argv[1], cases[i].name) != 0) continue;
    cases[i].run();
    return 0;
  }
  return 2;
}
