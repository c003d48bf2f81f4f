/*
 * The processor that the library is compiled for: the only place that asks which one it is. Each processor has a header
 * of its own that defines all of this; one that has none takes arch_portable.h, which is plain C, works, and follows no
 * stack farther than its innermost frame.
 *
 * Words that only one thread writes ("local", as the Linux kernel calls them), while others read:
 *
 *   void local_add(uint64_t *word, uint64_t amount)
 *       Adds. A signal handler that adds to the same word in between loses nothing where the processor has one
 *       instruction for it. Everything that the thread stored before is visible to whoever sees the sum.
 *   bool local_add_exhausts(int64_t *word, int64_t amount)
 *   bool local_sub_exhausts(int64_t *word, int64_t amount)
 *       The same, ordering nothing. Whether the result is 0 or less, by the flags that the instruction leaves.
 *   bool LOCAL_DEC_WAS_ZERO(base, index, offset)
 *       Subtracts 1 from the byte at base + index + offset, of which the last is a constant; 255 follows 0. Whether it
 *       was 0. A signal handler that does the same in between may be overwritten.
 *
 * The same additions on the fast path, where a thread marks its block while it counts one event, if it must
 * (account/thread_block.h):
 *
 *   EVENTS_ARE_MARKED
 *       Whether it must: an addition that is whole for signal handlers would take too many instructions.
 *   bool difference_exhausts(int64_t *difference, int64_t from, int64_t amount)
 *       Subtracts. Whether the result is 0 or less; it does not overflow.
 *   PLACE_OF_CLASS(class, classes)
 *       Where the count of a size class, the position of a highest_bit(), stands among those of so many classes.
 *   IS_PLACE_OF_CLASSES(offset, classes)
 *       Whether these may lie at this offset.
 *   void EVENT_ADD_ONE(base, class, offset)
 *       Adds 1 to the count of a class, of those that begin at base + offset, which is a constant.
 *   void EVENT_ADD_TWO(base, offset, first, second)
 *       Adds to two words that follow each other from base + offset on, the same. Without a mark both as local_add().
 *   void frees_follow_allocations(void)
 *       Additions before it become visible before additions after it, if these do not see to that.
 *
 *   OWN_VALUE(variable)
 *       The value of a pointer in initial-exec TLS, which is read afresh wherever this stands.
 *   STAYS_RETURNED(variable)
 *       A pointer that a function returned and that the caller will return: it stays in that register.
 *   NEAR_VALUE(variable)
 *       The value of a hidden variable of the library.
 *   NEAR_VARIABLE
 *       Stands before the definition of a variable that is zero at the start and whose NEAR_VALUE is taken.
 *   CALL_KEEPING(kept, function, argument)
 *       Calls what a hidden variable of the library points to, keeping a size_t variable, and, where ORIGIN_STAYS, what
 *       the function around it returns to.
 *   ORIGIN_STAYS
 *       Whether that and the stack stay where they were when the program called, in a function that calls by
 *       CALL_KEEPING only and ends by jumps. It has no stack frame then.
 *   uintptr_t path_of_call(size_t position)
 *       In such a function: filter_path() of the program's call and this position, in fewer instructions.
 *   const void *caller_that_stays(void)
 *       In such a function: where the program's call returns to.
 *   FOR_JUMP(function)
 *       The same of a pointer to a function that is called last, in the register from which it is called.
 *   bool is_below_power(size_t number, exponent)
 *       Whether the number is below 2 to this constant power.
 *   size_t highest_bit(size_t nonzero)
 *       The position of the highest bit that is set.
 *   uintptr_t words_above(uintptr_t address, size_t position)
 *       The address so many words of 8 bytes further on than others that this function returns; the position is that of
 *       a highest_bit().
 *   HASH_FACTOR
 *       An odd multiple of a power of two, whose multiples' bits 24 to 31 are a hash of what it is multiplied with.
 *   bool bit_of_65536(const uint8_t bits[8192], size_t number)
 *       Whether the bit is set whose number the lowest 16 bits of `number` are: bit number % 8 of byte
 *       (number % 65536 ^ FIRST_OF_65536) / 8. The bits begin where a page of 4 KiB begins.
 *
 * The program's floating-point environment (which exceptions happened and which trap, how to round) is to malloc what
 * errno is: who asked for memory did no arithmetic. Code of ours that computes with doubles does so in a function that
 * is not inlined, between these two.
 *
 *   floating_point floating_point_enter(void)
 *       Sets the environment that C programs start with. Returns the one before.
 *   void floating_point_leave(floating_point of_program)
 *
 * Registers and stacks:
 *
 *   struct registers
 *       A place in a stack, as the registers will be when a function has returned: at least `pc`, `stack_pointer` and
 *       `frame_pointer`.
 *   struct registers registers_of_caller(const void *caller, const void *stack)
 *       Of the program's code that called the hook and will go on at `caller` with this stack. The frame pointer is in
 *       its register still: this library is compiled not to touch it (CMakeLists.txt).
 *   struct registers registers_here(void)
 *       Of the code that this is inlined into.
 *   struct registers registers_of_context(const ucontext_t *context)
 *       Of the code that a signal interrupted.
 *   void registers_to_context(struct registers registers, ucontext_t *context)
 *   UNWIND_TABLES_ARE_KNOWN
 *       Whether objects have .eh_frame_hdr; else stacks are followed by frame pointers.
 *   DWARF_FRAME_POINTER, DWARF_STACK_POINTER, DWARF_RETURN_ADDRESS
 *       Numbers of these registers in call frame information.
 *   uintptr_t without_signature(uintptr_t return_address)
 *       As it was before the function signed it, where the processor does that, in bits that no address has.
 *   uintptr_t thread_pointer(void)
 *       An address that is the calling thread's own and lies as far from its stack in each thread of one kind.
 *   uintptr_t thread_control_block(size_t bytes)
 *       Where glibc's struct pthread of the calling thread begins, which has so many bytes (0: not known); 0 if that is
 *       not known.
 *   LARGEST_PAGE_BYTES
 *       Bytes of the largest page that a kernel may have.
 *   MOST_BEHIND_STACK
 *       How far above that the mapping of a thread's stack ends at most: what lies there is the struct, and static
 *       thread-local variables where they lie behind it.
 *
 * Words that the loader fills in (psABI of the processor, "Relocation Types"):
 *
 *   RELOCATIONS_ARE_KNOWN
 *       Whether these are: elsewhere no function is found by the words that lead to it.
 *   RELOCATION_OF_CALL, RELOCATION_OF_DATA, RELOCATION_OF_ADDRESS
 *       Of a word through which the procedure linkage table calls; of one of the global offset table; of one of data.
 *   TAG_OF_CALL_ENTRY_BYTES
 *       Of a dynamic section that says how long an entry of the procedure linkage table is; 0 if none does.
 *   bool call_entry_ignores_word(const unsigned char *entry, uintptr_t entry_bytes)
 *       Whether the entry jumps to the function itself: the loader has rewritten it (glibc.cpu.plt_rewrite). `entry`
 *       lies within it.
 *
 * Numbers and names:
 *
 *   LOADS_STAY_IN_ORDER
 *       Whether a thread's loads happen in their order, without anything that says so.
 *   bool is_tagged(const void *object)
 *       Whether the address has a tag, which the memory in front of the object need not have: that must not be read
 *       through it.
 *   GLIBC_CHUNKS_ARE_KNOWN
 *       Whether the word before each of glibc's objects may be read (allocator/glibc.h).
 *   PROBES_ARE_KNOWN
 *       Whether these are: elsewhere there are no probes (platform/probe.h).
 *   ARGUMENT_REGISTER_1, ARGUMENT_REGISTER_2, ARGUMENT_REGISTER_3, REGISTER_IN_NOTE
 *       The registers with a function's first arguments, and what stands before a register's name in the assembly of a
 *       note.
 *   WATCHPOINT_BYTES
 *       How much a watchpoint on an aligned word watches.
 *   OLD_SYMBOL(function, version), GLIBC_FIRST, GLIBC_OF_DLADDR1, GLIBC_OF_ALIGNED_ALLOC
 *       Takes a function of the C library by its oldest version, and what that is (platform/glibc_versions.h).
 *   DEFINE_PROGRAM_ENTRY(entry, main)
 *       Defines where the kernel or the loader begins: calls main with the stack as they leave it, the number of
 *       arguments first.
 */
#ifndef MALLOMETER_PLATFORM_ARCH_H
#define MALLOMETER_PLATFORM_ARCH_H

/* Apple's processors have the frame records of its ABI in common; contexts name the registers as each processor does.
 */
#if defined(__APPLE__) && defined(__x86_64__)
#define REGISTERS_TO_CONTEXT(pc, sp, fp, context) \
  (context)->__ss.__rip = (pc), (context)->__ss.__rsp = (sp), (context)->__ss.__rbp = (fp)
#include "platform/arch_darwin.h"
#elif defined(__APPLE__)
#define REGISTERS_TO_CONTEXT(pc, sp, fp, context) \
  (context)->__ss.__pc = (pc), (context)->__ss.__sp = (sp), (context)->__ss.__fp = (fp)
#include "platform/arch_darwin.h"
#elif defined(__x86_64__) && !defined(PORTABLE_PROCESSOR) /* tests build a library without it */
#include "platform/arch_x86_64.h"
#elif defined(__aarch64__) && !defined(PORTABLE_PROCESSOR)
#include "platform/arch_aarch64.h"
#else
#include "platform/arch_portable.h"
#endif

#endif
