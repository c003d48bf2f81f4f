/* Definitions for an unknown processor, in plain C. Counts are exact, stacks have one frame, and functions that need
 * more knowledge of the processor are off. A port starts from this file, and tests use it. */
#ifndef MALLOMETER_PLATFORM_ARCH_PORTABLE_H
#define MALLOMETER_PLATFORM_ARCH_PORTABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* ---- Single-writer words ------------------------------------------------------------------------------- */

static inline void local_add(uint64_t *word, uint64_t amount) { __atomic_fetch_add(word, amount, __ATOMIC_RELEASE); }

static inline bool local_add_exhausts(int64_t *word, int64_t amount) {
  return __atomic_add_fetch(word, amount, __ATOMIC_RELAXED) <= 0;
}

static inline bool local_sub_exhausts(int64_t *word, int64_t amount) { return local_add_exhausts(word, -amount); }

#define EVENTS_ARE_MARKED true

static inline bool difference_exhausts(int64_t *difference, int64_t from, int64_t amount) {
  *difference = from - amount;
  return *difference <= 0;
}

static inline void event_add(void *word, uint64_t amount) {
  uint64_t *atomic = word;
  __atomic_store_n(atomic, __atomic_load_n(atomic, __ATOMIC_RELAXED) + amount, __ATOMIC_RELAXED);
}

#define PLACE_OF_CLASS(class, classes) (class)
#define IS_PLACE_OF_CLASSES(offset, classes) true
#define EVENT_ADD_ONE(base, index, offset) event_add((char *)(base) + 8 * (index) + (offset), 1)
#define EVENT_ADD_TWO(base, offset, first, second) \
  (event_add((char *)(base) + (offset), (first)), event_add((char *)(base) + (offset) + 8, (second)))

static inline void order_frees_after_allocations(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }

static inline bool local_dec_was_zero(uint8_t *byte) {
  uint8_t before = __atomic_load_n(byte, __ATOMIC_RELAXED);
  __atomic_store_n(byte, (uint8_t)(before - 1), __ATOMIC_RELAXED);
  return before == 0;
}

#define LOCAL_DEC_WAS_ZERO(base, index, offset) local_dec_was_zero((uint8_t *)(base) + (offset) + (index))

#define THREAD_LOCAL_VALUE(variable) (*(__typeof__(variable) volatile *)&(variable))

#define KEEP_IN_RETURN_REGISTER(value) ((void)0)
#define NEAR_VALUE(variable) (variable)
#define NEAR_VARIABLE
#define JUMP_TARGET(function) (function)

static inline bool is_below_power(size_t number, unsigned exponent) { return number < (size_t)1 << exponent; }

static inline size_t highest_bit(size_t nonzero) { return 63u - (size_t)__builtin_clzll(nonzero); }

static inline uintptr_t word_address(uintptr_t address, size_t position) { return address + 8 * position; }

#define HASH_FACTOR 0x9e3779b1u

#define FRAMELESS_CALLS false
#define CALL_KEEPING(kept, function, argument)                \
  __extension__({                                             \
    void *call_returns = NEAR_VALUE(function)(argument);      \
    __asm__("" : "+r"(kept)); /* prevents the compiler from computing `kept` again after the call */ \
    call_returns;                                             \
  })
#define frameless_path(position) ((uintptr_t)0)
static inline const void *frameless_caller(void) { return NULL; }

#define FIRST_OF_65536 0u

static inline bool bit_of_65536(const uint8_t bits[8192], size_t number) {
  return __atomic_load_n(&bits[number % 65536 / 8], __ATOMIC_RELAXED) >> number % 8 & 1;
}

/* ---- Floating point ------------------------------------------------------------------------------------ */

typedef unsigned floating_point;

static inline floating_point floating_point_enter(void) { return 0; }

static inline void floating_point_leave(floating_point of_program) { (void)of_program; }

/* ---- Registers and stacks ------------------------------------------------------------------------------ */

#ifndef FRAMES_ARE_KNOWN /* arch_darwin.h defines this name and replaces the following definitions */

struct registers {
  uintptr_t pc, stack_pointer, frame_pointer;
};

/* Sets the frame pointer to 0, which ends the walk of the stack. */
static inline struct registers registers_of_caller(const void *caller, const void *stack) {
  return (struct registers){(uintptr_t)caller, (uintptr_t)stack, 0};
}

static inline struct registers registers_here(void) { return (struct registers){0, 0, 0}; }

static inline struct registers registers_of_context(const ucontext_t *context) {
  (void)context;
  return (struct registers){0, 0, 0};
}

static inline void registers_to_context(struct registers registers, ucontext_t *context) {
  (void)registers, (void)context;
}

static inline uintptr_t without_signature(uintptr_t return_address) { return return_address; }

#define UNWIND_TABLES_ARE_KNOWN true

#endif

/* Unwind tables never have a return address register with such a high number, so the unwinder rejects each table. */
enum { DWARF_FRAME_POINTER = 32, DWARF_STACK_POINTER = 33, DWARF_RETURN_ADDRESS = 1000 };

static inline uintptr_t thread_pointer(void) { return (uintptr_t)pthread_self(); }

static inline uintptr_t thread_control_block(size_t bytes) {
  (void)bytes;
  return 0;
}

static inline bool stores_registers_at_once(const void *function) {
  (void)function;
  return false;
}

#define LARGEST_PAGE_BYTES 65536
#define MOST_BYTES_ABOVE_CONTROL_BLOCK 1

/* ---- Words that the loader fills in -------------------------------------------------------------------- */

#define RELOCATIONS_ARE_KNOWN false
/* Types that no relocation has. */
#define RELOCATION_OF_CALL UINT32_MAX
#define RELOCATION_OF_DATA UINT32_MAX
#define RELOCATION_OF_ADDRESS UINT32_MAX
#define TAG_OF_CALL_ENTRY_BYTES 0

static inline bool call_entry_ignores_word(const unsigned char *entry, uintptr_t entry_bytes) {
  (void)entry, (void)entry_bytes;
  return false;
}

/* ---- Miscellaneous ------------------------------------------------------------------------------------- */

#define LOADS_STAY_IN_ORDER false

static inline bool is_tagged(const void *object) {
  (void)object;
  return false;
}

#ifndef GLIBC_CHUNKS_ARE_KNOWN /* tests build a library that reads sizes from glibc's chunks */
#define GLIBC_CHUNKS_ARE_KNOWN false
#endif
#define PROBES_ARE_KNOWN false
#define WATCHPOINT_BYTES 8

#define OLD_SYMBOL(function, version) _Static_assert(true, "the linker chooses the version")
#define GLIBC_FIRST NULL
#define GLIBC_OF_DLADDR1 NULL
#define GLIBC_OF_ALIGNED_ALLOC NULL

/* Calls `main` without arguments, because plain C cannot find the initial stack. */
#define DEFINE_PROGRAM_ENTRY(entry, main)                           \
  __attribute__((visibility("hidden"), noreturn)) void entry(void); \
  void entry(void) { main((char *const[]){NULL, NULL, NULL}); }     \
  _Static_assert(true, "")

#endif
