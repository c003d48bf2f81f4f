/* Searches a thread's control block for three words that describe the thread's stack. See own_stack.h. */
#include "platform/own_stack.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "platform/arch.h"
#include "platform/glibc_versions.h"
#include "platform/libc.h"
#include "platform/readable_memory.h"

/* The maximum size that is assumed for the first thread's stack. The kernel keeps at least 128 MiB below that stack
 * free of other memory. */
#define LARGEST_FIRST_STACK ((uintptr_t)64 << 20)

#ifndef AT_MINSIGSTKSZ /* Kernels report this value since 5.14. */
#define AT_MINSIGSTKSZ 51
#endif
#define USUAL_SIGNAL_FRAME 4096u

/* The loader's variable with the end of the first thread's stack. */
extern void *__libc_stack_end __attribute__((weak));

static struct own_stack first;

/* ---- The first thread ---------------------------------------------------------------------------------- */

/* Returns the end of the mapping of the first thread's stack. The path of the executed file (AT_EXECFN) is the last
 * data that the kernel puts into this mapping. */
static uintptr_t end_of_mapping(uintptr_t stack_end) {
  const char *name = (const char *)getauxval(AT_EXECFN);
  uintptr_t end = name ? (uintptr_t)name + strlen(name) : 0;
  return page_of(end > stack_end && end - stack_end < LARGEST_FIRST_STACK ? end : stack_end) + SMALLEST_PAGE;
}

static void find_first_stack(void) {
  struct rlimit limit;
  /* The address of the kernel's random bytes (AT_RANDOM) is the end if there is no __libc_stack_end. These bytes lie
   * above all frames and above the arrays of arguments and environment variables. */
  uintptr_t end = &__libc_stack_end ? (uintptr_t)__libc_stack_end : (uintptr_t)getauxval(AT_RANDOM);
  if (!end || getrlimit(RLIMIT_STACK, &limit) != 0) return;
  uintptr_t largest = limit.rlim_cur < LARGEST_FIRST_STACK ? (uintptr_t)limit.rlim_cur : LARGEST_FIRST_STACK;
  uintptr_t lowest = end_of_mapping(end) - page_of(largest);
  first = (struct own_stack){lowest, page_of(end) + SMALLEST_PAGE};
}

/* ---- Threads other than the first ---------------------------------------------------------------------- */

/* The bytes of a control block that are searched. The control block is larger in all versions of glibc since 2.17. */
#define SEARCHED_BYTES 2048u
/* The smallest and largest size of a stack in bytes. Pointers are larger, so a word between these bounds is not a
 * pointer. */
#define SMALLEST_STACK ((uintptr_t)16384)
#define LARGEST_STACK ((uintptr_t)1 << 38)

/* Whether the C library really is glibc. A library that only offers glibc's names has another layout of control
 * blocks. */
static bool is_glibc;
/* The size of glibc's control block in bytes, which glibc exports for debuggers; 0 if glibc does not export it. */
static size_t control_block_bytes;
/* The place of three words in glibc's control block of a thread, as an offset in bytes; 0 until it is known. The
 * words are the stack's lowest address, its size, and the size of its guard pages. */
static size_t place_of_words;

static bool describes_stack(const uintptr_t *words, uintptr_t control_block) {
  uintptr_t begin = words[0], bytes = words[1], guard = words[2], end = begin + bytes;
  if (bytes < SMALLEST_STACK || bytes > LARGEST_STACK || guard >= bytes || guard % SMALLEST_PAGE != 0) return false;
  return begin < control_block && end >= control_block + SEARCHED_BYTES &&
         end - control_block < MOST_BYTES_ABOVE_CONTROL_BLOCK;
}

/* The functions pthread_getattr_np() and pthread_attr_getstack() of musl; NULL with other C libraries. They are not
 * called in the first thread, where they would make system calls. */
static pthread_t first_thread;
static int (*describe_thread)(pthread_t thread, pthread_attr_t *attributes);
static int (*stack_of_thread)(const pthread_attr_t *attributes, void **begin, size_t *bytes);

static bool ask_for_own_stack(struct own_stack *own) {
  pthread_attr_t attributes;
  void *begin;
  size_t bytes;
  if (pthread_self() == first_thread || describe_thread(pthread_self(), &attributes) != 0) return false;
  if (stack_of_thread(&attributes, &begin, &bytes) != 0) return false;
  *own = (struct own_stack){(uintptr_t)begin, (uintptr_t)begin + bytes};
  return true;
}

static bool find_own_stack(struct own_stack *own) {
  if (describe_thread && stack_of_thread) return ask_for_own_stack(own);
  uintptr_t control_block = thread_control_block(control_block_bytes);
  size_t known = __atomic_load_n(&place_of_words, __ATOMIC_RELAXED);
  if (!is_glibc || !control_block) return false;
  for (size_t place = known ? known : sizeof known; place + 3 * sizeof known <= SEARCHED_BYTES; place += sizeof known) {
    const uintptr_t *words = (const uintptr_t *)(control_block + place);
    if (describes_stack(words, control_block)) {
      __atomic_store_n(&place_of_words, place, __ATOMIC_RELAXED);
      *own = (struct own_stack){words[0] + words[2], control_block};
      return true;
    }
    if (known) return false;
  }
  return false;
}

static void measure_control_block(void) {
  is_glibc = libc_is_glibc();
  if (libc_is_musl()) {
    void *address = dlsym(RTLD_DEFAULT, "pthread_getattr_np");
    memcpy(&describe_thread, &address, sizeof address);
    address = dlsym(RTLD_DEFAULT, "pthread_attr_getstack");
    memcpy(&stack_of_thread, &address, sizeof address);
    first_thread = pthread_self();
  }
  const uint32_t *bytes = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
  if (bytes) control_block_bytes = *bytes;
}

/* ---- Interface ----------------------------------------------------------------------------------------- */

void own_stacks_start(void) {
  find_first_stack();
  measure_control_block();
}

static bool contains(const struct own_stack *own, uintptr_t stack) { return stack >= own->begin && stack < own->end; }

bool own_stack_at(uintptr_t stack, struct own_stack *own) {
  *own = first;
  return contains(own, stack) || (find_own_stack(own) && contains(own, stack));
}

size_t own_stack_left(uintptr_t stack) {
  struct own_stack own;
  return own_stack_at(stack, &own) ? stack - own.begin : 0;
}

size_t signal_frame_bytes(void) {
  size_t told = getauxval(AT_MINSIGSTKSZ);
  return told ? told : USUAL_SIGNAL_FRAME;
}
