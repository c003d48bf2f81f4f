/* Definitions for x86-64. arch.h describes each of them. */
#ifndef MALLOMETER_PLATFORM_ARCH_X86_64_H
#define MALLOMETER_PLATFORM_ARCH_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* ---- Single-writer words ------------------------------------------------------------------------------- */

/* Additions need no lock prefix, because one thread writes each word. They need no fence, because this processor
 * makes stores visible in program order. */

static inline void local_add(uint64_t *word, uint64_t amount) {
  __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(amount) : "cc");
}

static inline bool local_add_exhausts(int64_t *word, int64_t amount) {
  bool exhausted;
  __asm__ volatile("addq %2, %0" : "+m"(*word), "=@ccle"(exhausted) : "er"(amount));
  return exhausted;
}

static inline bool local_sub_exhausts(int64_t *word, int64_t amount) {
  bool exhausted;
  __asm__ volatile("subq %2, %0" : "+m"(*word), "=@ccle"(exhausted) : "er"(amount));
  return exhausted;
}

#define EVENTS_ARE_MARKED false

static inline bool difference_exhausts(int64_t *difference, int64_t from, int64_t amount) {
  *difference = from - amount;
  return *difference <= 0;
}

#define PLACE_OF_CLASS(class, classes) (class)
#define IS_PLACE_OF_CLASSES(offset, classes) true
#define EVENT_ADD_ONE(base, index, offset) \
  __asm__ volatile("addq $1, %c2(%0,%1,8)" : : "r"(base), "r"(index), "i"(offset) : "cc", "memory")
#define EVENT_ADD_TWO(base, offset, first, second)              \
  (local_add((uint64_t *)((char *)(base) + (offset)), (first)), \
   local_add((uint64_t *)((char *)(base) + (offset)) + 1, (second)))

static inline void order_frees_after_allocations(void) {}

#define LOCAL_DEC_WAS_ZERO(base, index, offset)                                                                   \
  __extension__({                                                                                                 \
    bool was_zero;                                                                                                \
    __asm__ volatile("subb $1, %c3(%1, %2)" : "=@ccc"(was_zero) : "r"(base), "r"(index), "i"(offset) : "memory"); \
    was_zero;                                                                                                     \
  })

/* Reads the variable by assembly. Compiled code would save two registers, and would keep the variable's address in a
 * register during the call of the allocator. The value is in rdx, because malloc's fast path keeps the allocator's
 * result in rax. */
#define THREAD_LOCAL_VALUE(variable)                                                                    \
  __extension__({                                                                                       \
    __typeof__(variable) own_value;                                                                     \
    __asm__ volatile("movq " #variable "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=d"(own_value)); \
    own_value;                                                                                          \
  })

#define KEEP_IN_RETURN_REGISTER(value) __asm__("" : "+a"(value))
#define NEAR_VALUE(variable) (variable)
#define NEAR_VARIABLE
#define JUMP_TARGET(function) (function)

static inline bool is_below_power(size_t number, unsigned exponent) { return number < (size_t)1 << exponent; }

/* Finds the bit by assembly, because the builtin returns an int, whose widening costs two instructions. */
static inline size_t highest_bit(size_t nonzero) {
  size_t position;
  __asm__("bsrq %1, %0" : "=r"(position) : "r"(nonzero) : "cc");
  return position;
}

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

/* The instruction btw treats its bit number as signed: numbers from 32,768 on select bits below its address. The
 * address is therefore the middle of `bits`. */
#define FIRST_OF_65536 32768u
static inline bool bit_of_65536(const uint8_t bits[8192], size_t number) {
  bool set;
  __asm__ volatile("btw %w1, 4096+%2" : "=@ccc"(set) : "r"(number), "m"(*(const uint8_t(*)[8192])bits));
  return set;
}

/* ---- Floating point ------------------------------------------------------------------------------------ */

typedef unsigned floating_point; /* MXCSR */

/* Masks all exceptions, clears the exception flags, and rounds to nearest. */
#define FLOATING_POINT_DEFAULT 0x1f80u

static inline floating_point floating_point_enter(void) {
  floating_point of_program = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(FLOATING_POINT_DEFAULT);
  return of_program;
}

static inline void floating_point_leave(floating_point of_program) { __builtin_ia32_ldmxcsr(of_program); }

/* ---- Registers and stacks ------------------------------------------------------------------------------ */

struct registers {
  uintptr_t pc, stack_pointer, frame_pointer;
};

static inline struct registers registers_of_caller(const void *caller, const void *stack) {
  struct registers of_caller = {(uintptr_t)caller, (uintptr_t)stack, 0};
  __asm__ volatile("movq %%rbp, %0" : "=r"(of_caller.frame_pointer));
  return of_caller;
}

static inline __attribute__((always_inline)) struct registers registers_here(void) {
  struct registers here;
  __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                   : "=r"(here.pc), "=r"(here.stack_pointer), "=r"(here.frame_pointer));
  return here;
}

static inline struct registers registers_of_context(const ucontext_t *context) {
  const greg_t *r = context->uc_mcontext.gregs;
  return (struct registers){(uintptr_t)r[REG_RIP], (uintptr_t)r[REG_RSP], (uintptr_t)r[REG_RBP]};
}

static inline void registers_to_context(struct registers registers, ucontext_t *context) {
  greg_t *r = context->uc_mcontext.gregs;
  r[REG_RIP] = (greg_t)registers.pc;
  r[REG_RSP] = (greg_t)registers.stack_pointer;
  r[REG_RBP] = (greg_t)registers.frame_pointer;
}

#define UNWIND_TABLES_ARE_KNOWN true

/* System V ABI, AMD64 supplement, figure "DWARF register number mapping". */
enum { DWARF_FRAME_POINTER = 6, DWARF_STACK_POINTER = 7, DWARF_RETURN_ADDRESS = 16 };

static inline uintptr_t without_signature(uintptr_t return_address) { return return_address; }

/* The thread pointer is the address of the thread's control block. Static thread-local variables lie below this
 * address (variant II of Drepper, ELF Handling For Thread-Local Storage). */
static inline uintptr_t thread_pointer(void) { return (uintptr_t)__builtin_thread_pointer(); }

static inline uintptr_t thread_control_block(size_t bytes) {
  (void)bytes;
  return thread_pointer();
}

/* Searches the function's first 48 bytes for pushes of rbx, rbp and r12 to r15. The tested functions have no
 * constants in these bytes that look like pushes. */
static inline bool stores_registers_at_once(const void *function) {
  enum { PUSH = 0x50, PUSH_OF_LATER = 0x41, RBX = 3, RBP = 5, R12 = 12, R15 = 15, BEGINNING = 48 };
  const unsigned char *code = (const unsigned char *)function;
  unsigned stored = 0;
  for (unsigned i = 0; i < BEGINNING; i++) {
    bool is_later = i > 0 && code[i - 1] == PUSH_OF_LATER;
    if (code[i] >= PUSH && code[i] < PUSH + 8) stored |= 1u << (code[i] - PUSH + (is_later ? 8 : 0));
  }
  const unsigned all = 1u << RBX | 1u << RBP | ((1u << (R15 + 1)) - (1u << R12));
  return (stored & all) == all;
}

#define LARGEST_PAGE_BYTES 4096
#define MOST_BYTES_ABOVE_CONTROL_BLOCK 8192

/* ---- Words that the loader fills in -------------------------------------------------------------------- */

#define RELOCATIONS_ARE_KNOWN true
#define RELOCATION_OF_CALL 7               /* R_X86_64_JUMP_SLOT */
#define RELOCATION_OF_DATA 6               /* R_X86_64_GLOB_DAT */
#define RELOCATION_OF_ADDRESS 1            /* R_X86_64_64 */
#define TAG_OF_CALL_ENTRY_BYTES 0x70000003 /* DT_X86_64_PLTENT */

/* glibc can rewrite an entry of the procedure linkage table to a direct jump (opcode e9, or d5 with a 64-bit
 * address), which ignores the entry's word in the GOT. Other entries jump through that word (ff 25), sometimes after
 * endbr64. */
static inline bool call_entry_ignores_word(const unsigned char *entry, uintptr_t entry_bytes) {
  const unsigned char *begin = (const unsigned char *)((uintptr_t)entry & ~(entry_bytes - 1));
  return *entry == 0xe9 || *begin == 0xe9 || *begin == 0xd5;
}

/* ---- Miscellaneous ------------------------------------------------------------------------------------- */

#define LOADS_STAY_IN_ORDER true

static inline bool is_tagged(const void *object) {
  (void)object;
  return false;
}

#define GLIBC_CHUNKS_ARE_KNOWN true
#define PROBES_ARE_KNOWN true
#define ARGUMENT_REGISTER_1 "rdi"
#define ARGUMENT_REGISTER_2 "rsi"
#define ARGUMENT_REGISTER_3 "rdx"
#define REGISTER_IN_NOTE "%%"
#define WATCHPOINT_BYTES 8

#define OLD_SYMBOL(function, version) __asm__(".symver " #function ", " #function "@" version)
#define GLIBC_FIRST "GLIBC_2.2.5"
#define GLIBC_OF_DLADDR1 "GLIBC_2.3.3"
#define GLIBC_OF_ALIGNED_ALLOC "GLIBC_2.16"

#define DEFINE_PROGRAM_ENTRY(entry, main)                                                      \
  __asm__(".text\n.globl " #entry "\n.hidden " #entry "\n.type " #entry ", @function\n" #entry \
          ":\n"                                                                                \
          "\txorl %ebp, %ebp\n\tmovq %rsp, %rdi\n\tandq $-16, %rsp\n\tcall " #main             \
          "\n\tud2\n"                                                                          \
          ".size " #entry ", .-" #entry "\n")

#endif
