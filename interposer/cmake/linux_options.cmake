# How the library is compiled and linked for Linux.
include(CheckCCompilerFlag)
check_c_compiler_flag(-Wa,-mbranches-within-32B-boundaries BRANCHES_WITHIN_32B)
check_c_compiler_flag(-fcf-protection=return RETURN_PROTECTION)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(OF_PROCESSOR -ffixed-rbp)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  # libgcc's atomics would need a function that musl lacks. There are no landing pads for indirect branches and no mark
  # that says so: the C runtime's own objects have none in Debian 12, and an object with the mark whose _init has none
  # ends the program. The loader then leaves this object's pages unguarded, and guards those of the others.
  set(OF_PROCESSOR -ffixed-x29 -mno-outline-atomics -mbranch-protection=none)
endif()
# Debian 11 and older have these functions in libdl.so.2; newer systems keep an empty one of that name.
find_library(LIBDL NAMES libdl.so.2 REQUIRED)
target_compile_options(mallometer PRIVATE
  # The program's frame pointer stays in its register, and stacks are followed from there (src/sample/native_stack.c).
  -fomit-frame-pointer ${OF_PROCESSOR}
  # Vectorized, a struct of two registers goes through the stack.
  -fno-tree-slp-vectorize
  # Many processors do not keep a jump that touches a 32-byte boundary in their decoded form (Intel: jump conditional
  # code erratum); on the fast path that is a tenth of the time of a pair. The assembler moves jumps by longer encodings.
  -falign-functions=64
  $<$<BOOL:${BRANCHES_WITHIN_32B}>:-Wa,-mbranches-within-32B-boundaries>
  # One object without the mark for shadow stacks, and glibc switches them off for the whole program. Indirect branches
  # are not protected: that would take an instruction in every function.
  $<$<BOOL:${RETURN_PROTECTION}>:-fcf-protection=return>)
target_link_options(mallometer PRIVATE
  LINKER:-z,now          # no lazy binding: the hook never enters the loader
  LINKER:-z,nodelete     # threads keep pointers into it
  LINKER:-z,defs
  LINKER:-Bsymbolic-functions
  LINKER:-e,safety_test_entry  # where it begins when it is executed (src/leak/safety_test.c)
  # Whatever the C runtime's own objects say, of which many systems have unmarked ones. It holds for what is not the
  # compiler's, too: safety_test_entry calls and never returns, and the stacks that clone gets are of children that share
  # the shadow stack of a parent that waits for them (CLONE_VFORK) and leave by _exit or execve.
  $<$<BOOL:${RETURN_PROTECTION}>:LINKER:-z,shstk>
  LINKER:--no-as-needed)
target_link_libraries(mallometer PRIVATE ${LIBDL})
