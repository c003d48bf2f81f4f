/*
 * Selects the header of the processor that the library is compiled for; no other file tests which processor that is.
 * Each of these headers defines all of the following. A processor without a header gets arch_portable.h, which is
 * plain C and walks no stack beyond its innermost frame.
 *
 * Single-writer words ("local", as the Linux kernel calls them): one thread writes such a word, others read it.
 *
 *   void local_add(uint64_t *word, uint64_t amount)
 *       Additions of a signal handler in between are not lost. A thread that reads the sum also sees everything that
 *       this thread stored before.
 *   bool local_add_exhausts(int64_t *word, int64_t amount)
 *   bool local_sub_exhausts(int64_t *word, int64_t amount)
 *       Add or subtract, without ordering other accesses. Return whether the result is 0 or less.
 *   bool LOCAL_DEC_WAS_ZERO(base, index, offset)
 *       Subtracts 1 from the byte at base + index + offset; the offset is a constant, and 255 follows 0. Returns
 *       whether it was 0. The change of a signal handler in between may be lost.
 *
 * Additions on the fast path. While a thread counts one event, it may have to mark its counters, so that signal
 * handlers use the shared counters (account/thread_block.h):
 *
 *   EVENTS_ARE_MARKED
 *       Whether a thread must mark its counters, because an addition that signal handlers cannot interrupt would take
 *       too many instructions.
 *   bool difference_exhausts(int64_t *difference, int64_t from, int64_t amount)
 *       Sets the difference, which must not overflow. Returns whether it is 0 or less.
 *   PLACE_OF_CLASS(class, classes)
 *       The index of a size class's count in an array with the counts of `classes` classes. `class` is a result of
 *       highest_bit().
 *   IS_PLACE_OF_CLASSES(offset, classes)
 *       Whether the array of the classes' counts may begin at this offset of its struct.
 *   void EVENT_ADD_ONE(base, class, offset)
 *       Adds 1 to the count of a class. The counts begin at base + offset; the offset is a constant.
 *   void EVENT_ADD_TWO(base, offset, first, second)
 *       Adds to the two successive words at base + offset. Without marks each addition is a local_add().
 *   void order_frees_after_allocations(void)
 *       Makes earlier additions visible before later ones, unless the additions do that themselves.
 *
 *   THREAD_LOCAL_VALUE(variable)
 *       The value of a pointer in initial-exec TLS, read anew at each use.
 *   KEEP_IN_RETURN_REGISTER(variable)
 *       Keeps a pointer that a function returned, and that the caller will return, in its register.
 *   NEAR_VALUE(variable)
 *       The value of a hidden variable of the library.
 *   NEAR_VARIABLE
 *       Precedes the definition of a variable that is zero at the start and is read by NEAR_VALUE.
 *   CALL_KEEPING(kept, function, argument)
 *       Calls the function to which a hidden variable of the library points. Preserves `kept`, a size_t variable. With
 *       FRAMELESS_CALLS, also preserves the register with the return address of the enclosing function.
 *   FRAMELESS_CALLS
 *       Whether functions have no stack frame if they call by CALL_KEEPING only and end by jumps. Their return
 *       address and stack pointer then stay as they were when the program called.
 *   uintptr_t frameless_path(size_t position)
 *       The result of filter_path() (sample/sampler.h) for the program's call and the size class `position`, in fewer
 *       instructions. May be used only in a frameless function.
 *   const void *frameless_caller(void)
 *       In a frameless function: the return address of the program's call.
 *   JUMP_TARGET(function)
 *       Like NEAR_VALUE, for a pointer to a function that is called by a jump (tail call). The value is in the
 *       register that the jump needs.
 *   bool is_below_power(size_t number, exponent)
 *       Whether the number is below 2 to this constant power.
 *   size_t highest_bit(size_t nonzero)
 *       The position of the highest bit that is set.
 *   uintptr_t word_address(uintptr_t address, size_t position)
 *       An address that differs by 8 bytes between successive positions; `position` is a result of highest_bit().
 *       Which position yields `address` itself depends on the processor, so results may only be compared with each
 *       other.
 *   HASH_FACTOR
 *       A constant. Bits 24 to 31 of a number's product with it are a hash of the number.
 *   bool bit_of_65536(const uint8_t bits[8192], size_t number)
 *       Whether the bit of number % 65536 is set: bit number % 8 of byte (number % 65536 ^ FIRST_OF_65536) / 8. The
 *       constant FIRST_OF_65536 is 0 or 32,768, depending on the processor. The bits begin at a page of 4 KiB.
 *
 * malloc must leave the program's floating-point environment (exceptions and rounding) as it was, like errno. Code of
 * this library that computes with doubles is in a function that is not inlined, and is called between the following
 * two functions.
 *
 *   floating_point floating_point_enter(void)
 *       Sets the environment that C programs start with. Returns the previous one.
 *   void floating_point_leave(floating_point of_program)
 *       Restores the previous environment.
 *
 * Registers and stacks:
 *
 *   struct registers
 *       The registers that code will have when the function that it called has returned: at least `pc`,
 *       `stack_pointer` and `frame_pointer`.
 *   struct registers registers_of_caller(const void *caller, const void *stack)
 *       The registers of the program's code that called the hook, and will go on at `caller` with this stack. The
 *       frame pointer is still in its register: this library is compiled not to change it (CMakeLists.txt).
 *   struct registers registers_here(void)
 *       The registers of the code that this function is inlined into.
 *   struct registers registers_of_context(const ucontext_t *context)
 *       The registers of the code that a signal interrupted.
 *   void registers_to_context(struct registers registers, ucontext_t *context)
 *   UNWIND_TABLES_ARE_KNOWN
 *       Whether loaded objects have .eh_frame_hdr; else stacks are walked along frame pointers.
 *   DWARF_FRAME_POINTER, DWARF_STACK_POINTER, DWARF_RETURN_ADDRESS
 *       The numbers of these registers in call frame information.
 *   uintptr_t without_signature(uintptr_t return_address)
 *       The address without the signature that some processors put into its unused bits.
 *   uintptr_t thread_pointer(void)
 *       An address that belongs to the calling thread and lies at a fixed distance from its control block.
 *   uintptr_t thread_control_block(size_t bytes)
 *       The address of the calling thread's struct pthread of glibc; 0 if it is unknown. `bytes` is the size of that
 *       struct; 0 if it is unknown.
 *   bool stores_registers_at_once(const void *function)
 *       Whether a function begins by storing on the stack all registers that it has to keep for its caller.
 *   LARGEST_PAGE_BYTES
 *       The bytes of the largest page that a kernel may have.
 *   MOST_BYTES_ABOVE_CONTROL_BLOCK
 *       The most bytes from the address of struct pthread to the end of the mapping of a thread's stack: the struct
 *       and, on some processors, the static thread-local variables, which follow the struct there.
 *
 * Words that the loader fills in (psABI of the processor, "Relocation Types"):
 *
 *   RELOCATIONS_ARE_KNOWN
 *       Whether the types below are known. If not, the library finds no references to functions
 *       (platform/references.h).
 *   RELOCATION_OF_CALL, RELOCATION_OF_DATA, RELOCATION_OF_ADDRESS
 *       The types of words that the procedure linkage table calls, of words of the global offset table, and of words
 *       of data.
 *   TAG_OF_CALL_ENTRY_BYTES
 *       The dynamic section's tag for the bytes of an entry of the procedure linkage table; 0 if there is none.
 *   bool call_entry_ignores_word(const unsigned char *entry, uintptr_t entry_bytes)
 *       Whether the entry of the procedure linkage table jumps directly to the function, because the loader has
 *       rewritten it (glibc.cpu.plt_rewrite). `entry` is an address in it.
 *
 * Numbers and names:
 *
 *   LOADS_STAY_IN_ORDER
 *       Whether a thread's loads happen in program order without a fence.
 *   bool is_tagged(const void *object)
 *       Whether the address has a tag. The memory before the object may have another tag, so it must not be read
 *       through this address.
 *   GLIBC_CHUNKS_ARE_KNOWN
 *       Whether the word before each of glibc's objects may be read (allocator/glibc.h).
 *   PROBES_ARE_KNOWN
 *       Whether the next four are known. Otherwise there are no probes (platform/probe.h).
 *   ARGUMENT_REGISTER_1, ARGUMENT_REGISTER_2, ARGUMENT_REGISTER_3, REGISTER_IN_NOTE
 *       The registers with a function's first arguments, and the prefix of a register's name in a note's assembly.
 *   WATCHPOINT_BYTES
 *       The bytes that a watchpoint on an aligned word watches.
 *   OLD_SYMBOL(function, version), GLIBC_FIRST, GLIBC_OF_DLADDR1, GLIBC_OF_ALIGNED_ALLOC
 *       OLD_SYMBOL binds a function of the C library to a version; the others are the oldest versions of functions
 *       (platform/glibc_versions.h).
 *   DEFINE_PROGRAM_ENTRY(entry, main)
 *       Defines the code at which the kernel or the loader starts the program. It calls main with the initial stack,
 *       on which the number of arguments comes first.
 */
#ifndef MALLOMETER_PLATFORM_ARCH_H
#define MALLOMETER_PLATFORM_ARCH_H

/* macOS has the same frame records on x86-64 and arm64. Only the names of the registers in signal contexts differ. */
#if defined(__APPLE__) && defined(__x86_64__)
#define REGISTERS_TO_CONTEXT(pc, sp, fp, context) \
  (context)->__ss.__rip = (pc), (context)->__ss.__rsp = (sp), (context)->__ss.__rbp = (fp)
#include "platform/arch_darwin.h"
#elif defined(__APPLE__)
#define REGISTERS_TO_CONTEXT(pc, sp, fp, context) \
  (context)->__ss.__pc = (pc), (context)->__ss.__sp = (sp), (context)->__ss.__fp = (fp)
#include "platform/arch_darwin.h"
#elif defined(__x86_64__) && !defined(PORTABLE_PROCESSOR) /* tests build a library with PORTABLE_PROCESSOR */
#include "platform/arch_x86_64.h"
#elif defined(__aarch64__) && !defined(PORTABLE_PROCESSOR)
#include "platform/arch_aarch64.h"
#else
#include "platform/arch_portable.h"
#endif

#endif
