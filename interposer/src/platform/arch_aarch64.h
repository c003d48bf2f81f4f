/* Definitions for aarch64. arch.h describes each of them. */
#ifndef MALLOMETER_PLATFORM_ARCH_AARCH64_H
#define MALLOMETER_PLATFORM_ARCH_AARCH64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* ---- Single-writer words ------------------------------------------------------------------------------- */

/*
 * Additions off the fast path, by load exclusive and store exclusive. The return from any exception clears the
 * exclusive monitor (Arm Architecture Reference Manual, B2.9), so after a signal between load and store the addition
 * is repeated, and no addition of the handler is lost.
 */
static inline void local_add(uint64_t *word, uint64_t amount) {
  uint64_t sum;
  uint32_t failed;
  __asm__ volatile("1:\tldxr %0, %2\n\tadd %0, %0, %3\n\tstlxr %w1, %0, %2\n\tcbnz %w1, 1b"
                   : "=&r"(sum), "=&r"(failed), "+Q"(*word)
                   : "rI"(amount)
                   : "memory");
}

static inline bool local_add_exhausts(int64_t *word, int64_t amount) {
  int64_t sum;
  uint32_t failed;
  __asm__ volatile("1:\tldxr %0, %2\n\tadd %0, %0, %3\n\tstxr %w1, %0, %2\n\tcbnz %w1, 1b"
                   : "=&r"(sum), "=&r"(failed), "+Q"(*word)
                   : "rI"(amount));
  return sum <= 0;
}

static inline bool local_sub_exhausts(int64_t *word, int64_t amount) { return local_add_exhausts(word, -amount); }

/* Adds the offset in two parts, because one instruction has room for 12 bits of it only. */
#define LOCAL_DEC_WAS_ZERO(base, index, offset)                                                  \
  __extension__({                                                                                \
    const void *byte = (const uint8_t *)(base) + (index);                                        \
    uint32_t less;                                                                               \
    if ((offset) > 4095) __asm__("add %0, %0, %1" : "+r"(byte) : "i"((offset) & ~(size_t)4095)); \
    __asm__ volatile("ldrb %w0, [%1, %2]\n\tsub %w0, %w0, #1\n\tstrb %w0, [%1, %2]"              \
                     : "=&r"(less)                                                               \
                     : "r"(byte), "i"((offset)&4095)                                             \
                     : "memory");                                                                \
    (bool)(less >> 31);                                                                          \
  })

/*
 * A thread marks its counters while it counts an event (account/thread_block.h), because the additions below are plain
 * loads and stores. A signal handler that interrupts an addition sees the mark and uses other counters. Two counts are
 * loaded and stored as a pair, whose halves are atomic (Arm Architecture Reference Manual, B2.2).
 */
#define EVENTS_ARE_MARKED true

static inline bool difference_exhausts(int64_t *difference, int64_t from, int64_t amount) {
  bool exhausted;
  __asm__("subs %0, %2, %3" : "=r"(*difference), "=@ccle"(exhausted) : "r"(from), "r"(amount));
  return exhausted;
}

/* The counts are stored from the highest class to the lowest: the count of a class lies 8 * (63 - class) bytes after
 * `base`. highest_bit() computes a class from the number of leading zeros, which is 63 - class. This number is still
 * in a register, so the address needs only two registers. */
#define PLACE_OF_CLASS(class, classes) ((classes)-1 - (class))
#define IS_PLACE_OF_CLASSES(offset, classes) ((offset) == (64 - (classes)) * sizeof(uint64_t))
#define EVENT_ADD_ONE(base, class, offset)                                                    \
  __extension__({                                                                             \
    uint64_t event_sum;                                                                       \
    __asm__ volatile("ldr %0, [%1, %2, lsl #3]\n\tadd %0, %0, #1\n\tstr %0, [%1, %2, lsl #3]" \
                     : "=&r"(event_sum)                                                       \
                     : "r"(base), "r"((size_t)63 - (class))                                   \
                     : "memory");                                                             \
  })

#define EVENT_ADD_TWO(base, offset, first, second)                                                      \
  __extension__({                                                                                       \
    uint64_t event_first, event_second;                                                                 \
    __asm__ volatile("ldp %0, %1, [%2, %3]\n\tadd %0, %0, %4\n\tadd %1, %1, %5\n\tstp %0, %1, [%2, %3]" \
                     : "=&r"(event_first), "=&r"(event_second)                                          \
                     : "r"(base), "i"(offset), "rI"((uint64_t)(first)), "rI"((uint64_t)(second))        \
                     : "memory");                                                                       \
  })

/* Orders later stores after earlier stores. Earlier loads need no order (account/counter.h). */
static inline void order_frees_after_allocations(void) { __asm__ volatile("dmb ishst" ::: "memory"); }

/* Loads the value by assembly. Compiled C would save a register on the stack, to keep the variable's address in this
 * register across a call. */
#define THREAD_LOCAL_VALUE(variable)                                                            \
  __extension__({                                                                               \
    __typeof__(variable) own_value;                                                             \
    uintptr_t distance;                                                                         \
    __asm__ volatile("mrs %0, tpidr_el0\n\tldr %1, :gottprel:" #variable "\n\tldr %0, [%0, %1]" \
                     : "=&r"(own_value), "=&r"(distance));                                      \
    own_value;                                                                                  \
  })

#define KEEP_IN_RETURN_REGISTER(value) ((void)0)

/* Loads a variable within 1 MiB of the instruction by one load (LDR (literal)). If it is farther away, linking the
 * library fails. */
#define NEAR_VALUE(variable)                                              \
  __extension__({                                                         \
    __typeof__(variable) near_value;                                      \
    __asm__ volatile("ldr %0, %1" : "=r"(near_value) : "S"(&(variable))); \
    near_value;                                                           \
  })

/* Puts a variable into .data. NEAR_VALUE reaches only 1 MiB, and the zeroed section (.bss) extends beyond that. */
#define NEAR_VARIABLE __attribute__((section(".data")))

/* Jumps by x16: with branch target identification, a jump can reach a landing pad for calls (bti c) only by x16 or
 * x17. */
#define JUMP_TARGET(function)                                         \
  __extension__({                                                     \
    register __typeof__(function) target __asm__("x16");              \
    __asm__ volatile("ldr %0, %1" : "=r"(target) : "S"(&(function))); \
    target;                                                           \
  })

/* Shifts the number, because a comparison takes one more instruction for the constant. */
#define is_below_power(number, exponent)                                            \
  __extension__({                                                                   \
    size_t above;                                                                   \
    __asm__("lsr %0, %1, %2" : "=r"(above) : "r"((size_t)(number)), "i"(exponent)); \
    above == 0;                                                                     \
  })

/* Counts the leading zeros by assembly, so that the compiler can reuse their number in word_address(). */
static inline size_t highest_bit(size_t nonzero) {
  size_t zeros;
  __asm__("clz %0, %1" : "=r"(zeros) : "r"(nonzero));
  return 63 - zeros;
}

/* Results are 8 * 63 bytes too low, which does not change comparisons with each other. */
static inline uintptr_t word_address(uintptr_t address, size_t position) { return address - 8 * (63 - position); }

/* A single instruction loads this constant, 0x9e37 << 16. The hash is bits 24 to 31 of the product. They equal bits
 * 8 to 15 of the number times 0x9e37, which depend on the number's lowest 16 bits only. */
#define HASH_FACTOR 0x9e370000u

/*
 * CALL_KEEPING() needs no stack frame, because its assembly saves and restores `kept` and the link register itself.
 * A function that uses it has no frame if its other calls are inlined and its last call is a jump
 * (cmake/check_fast_path.sh checks that).
 */
#if defined __OPTIMIZE__ && !defined __OPTIMIZE_SIZE__
#define FRAMELESS_CALLS true
#else
#define FRAMELESS_CALLS false
#endif

#define CALL_KEEPING(kept, function, argument)                                                                    \
  __extension__({                                                                                                 \
    register void *call_takes __asm__("x0") = (void *)(uintptr_t)(argument);                                      \
    register size_t call_keeps __asm__("x1") = (kept);                                                            \
    __asm__ volatile(                                                                                             \
        "stp x1, x30, [sp, #-16]!\n\t.cfi_adjust_cfa_offset 16\n\t.cfi_rel_offset x30, 8\n\t"                     \
        "ldr x1, %2\n\tblr x1\n\t"                                                                                \
        "ldp x1, x30, [sp], #16\n\t.cfi_adjust_cfa_offset -16\n\t.cfi_restore x30"                                \
        : "+r"(call_takes), "+r"(call_keeps)                                                                      \
        : "S"(&(function))                                                                                        \
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", \
          "x18", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", \
          "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");                         \
    (kept) = call_keeps;                                                                                          \
    call_takes;                                                                                                   \
  })

#define frameless_path(position)                                                                           \
  __extension__({                                                                                          \
    uintptr_t path_made;                                                                                   \
    __asm__("sub %0, sp, %1, lsl #3\n\tadd %0, %0, x30" : "=r"(path_made) : "r"((size_t)63 - (position))); \
    path_made;                                                                                             \
  })

/* The assembly is volatile, so that the compiler does not compute the caller on the fast path, where it is not
 * needed. */
static inline __attribute__((always_inline)) const void *frameless_caller(void) {
  const void *caller;
  __asm__ volatile("mov %0, x30" : "=r"(caller));
  return caller;
}

#define FIRST_OF_65536 0u

/* Reads 64 bits at a time. A shift uses only the lowest six bits of its amount, so `number` % 64 costs nothing. The
 * bits begin at a page boundary, because a single instruction (adrp) computes such an address. */
#define bit_of_65536(bits, number)                                                                                \
  __extension__({                                                                                                 \
    const uint64_t *words;                                                                                        \
    uint64_t word;                                                                                                \
    __asm__("adrp %0, " #bits : "=r"(words));                                                                     \
    __asm__ volatile("ldr %0, [%1, %2, lsl #3]" : "=r"(word) : "r"(words), "r"((number) / 64 % 1024) : "memory"); \
    (bool)(word >> (number) % 64 & 1);                                                                            \
  })

/* ---- Floating point ------------------------------------------------------------------------------------ */

typedef uint64_t floating_point; /* FPCR in the upper half, FPSR in the lower */

static inline floating_point floating_point_enter(void) {
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr" : "=r"(control), "=r"(status));
  return control << 32 | (status & UINT32_MAX);
}

static inline void floating_point_leave(floating_point of_program) {
  __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(of_program >> 32), "r"(of_program & UINT32_MAX));
}

/* ---- Registers and stacks ------------------------------------------------------------------------------ */

/*
 * The link register is missing. A function that has called another function has stored its return address on the stack,
 * so the link register is needed only for an interrupted function. Interrupted functions are examined only for
 * watchpoints, which do not work on this processor, because the kernel reports one access repeatedly.
 */
struct registers {
  uintptr_t pc, stack_pointer, frame_pointer;
};

static inline struct registers registers_of_caller(const void *caller, const void *stack) {
  struct registers of_caller = {(uintptr_t)caller, (uintptr_t)stack, 0};
  __asm__ volatile("mov %0, x29" : "=r"(of_caller.frame_pointer));
  return of_caller;
}

static inline __attribute__((always_inline)) struct registers registers_here(void) {
  struct registers here;
  __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"
                   : "=r"(here.pc), "=r"(here.stack_pointer), "=r"(here.frame_pointer));
  return here;
}

static inline struct registers registers_of_context(const ucontext_t *context) {
  const mcontext_t *r = &context->uc_mcontext;
  return (struct registers){(uintptr_t)r->pc, (uintptr_t)r->sp, (uintptr_t)r->regs[29]};
}

static inline void registers_to_context(struct registers registers, ucontext_t *context) {
  mcontext_t *r = &context->uc_mcontext;
  r->pc = registers.pc;
  r->sp = registers.stack_pointer;
  r->regs[29] = registers.frame_pointer;
}

#define UNWIND_TABLES_ARE_KNOWN true

/* DWARF for the Arm 64-bit Architecture, "DWARF register names". */
enum { DWARF_FRAME_POINTER = 29, DWARF_STACK_POINTER = 31, DWARF_RETURN_ADDRESS = 30 };

/* Executes XPACLRI, which removes a signature, and does nothing on processors without signatures. */
static inline uintptr_t without_signature(uintptr_t return_address) {
  register uintptr_t link __asm__("x30") = return_address;
  __asm__("hint #7" : "+r"(link));
  return link;
}

static inline uintptr_t thread_pointer(void) { return (uintptr_t)__builtin_thread_pointer(); }

/* The control block ends at the thread pointer, before the variables (variant I of Drepper, ELF handling for TLS). */
static inline uintptr_t thread_control_block(size_t bytes) { return bytes ? thread_pointer() - bytes : 0; }

/* Searches for instructions (stp, str) that store x19 to x28 on the stack. */
static inline bool stores_registers_at_once(const void *function) {
  enum { FIRST = 19, LAST = 28, STACK_POINTER = 31, BEGINNING = 32 };
  const uint32_t *code = (const uint32_t *)function;
  uint32_t stored = 0;
  for (unsigned i = 0; i < BEGINNING; i++) {
    bool is_pair = (code[i] & 0xff400000u) == 0xa9000000u, is_one = (code[i] & 0xffc00000u) == 0xf9000000u;
    if (!(is_pair || is_one) || (code[i] >> 5 & 31) != STACK_POINTER) continue;
    stored |= 1u << (code[i] & 31);
    if (is_pair) stored |= 1u << (code[i] >> 10 & 31);
  }
  const uint32_t all = (1u << (LAST + 1)) - (1u << FIRST);
  return (stored & all) == all;
}

#define LARGEST_PAGE_BYTES 65536
#define MOST_BYTES_ABOVE_CONTROL_BLOCK 65536

/* ---- Words that the loader fills in -------------------------------------------------------------------- */

#define RELOCATIONS_ARE_KNOWN true
#define RELOCATION_OF_CALL 1026   /* R_AARCH64_JUMP_SLOT */
#define RELOCATION_OF_DATA 1025   /* R_AARCH64_GLOB_DAT */
#define RELOCATION_OF_ADDRESS 257 /* R_AARCH64_ABS64 */
#define TAG_OF_CALL_ENTRY_BYTES 0

static inline bool call_entry_ignores_word(const unsigned char *entry, uintptr_t entry_bytes) {
  (void)entry, (void)entry_bytes;
  return false;
}

/* ---- Miscellaneous ------------------------------------------------------------------------------------- */

#define LOADS_STAY_IN_ORDER false

/* Returns whether the address has a tag of the Memory Tagging Extension. Untagged memory and the headers of chunks
 * have tag 0; malloc's objects have other tags if GLIBC_TUNABLES=glibc.mem.tagging is on. */
static inline bool is_tagged(const void *object) { return (uintptr_t)object >> 56 != 0; }

#define GLIBC_CHUNKS_ARE_KNOWN true
#define PROBES_ARE_KNOWN true
#define ARGUMENT_REGISTER_1 "x0"
#define ARGUMENT_REGISTER_2 "x1"
#define ARGUMENT_REGISTER_3 "x2"
#define REGISTER_IN_NOTE ""
#define WATCHPOINT_BYTES 8

#define OLD_SYMBOL(function, version) __asm__(".symver " #function ", " #function "@" version)
/* The first glibc for this processor. */
#define GLIBC_FIRST "GLIBC_2.17"
#define GLIBC_OF_DLADDR1 GLIBC_FIRST
#define GLIBC_OF_ALIGNED_ALLOC GLIBC_FIRST

#define DEFINE_PROGRAM_ENTRY(entry, main)                                                      \
  __asm__(".text\n.globl " #entry "\n.hidden " #entry "\n.type " #entry ", %function\n" #entry \
          ":\n"                                                                                \
          "\tmov x29, xzr\n\tmov x30, xzr\n\tmov x0, sp\n\tbl " #main                          \
          "\n\tbrk #1\n"                                                                       \
          ".size " #entry ", .-" #entry "\n")

#endif
