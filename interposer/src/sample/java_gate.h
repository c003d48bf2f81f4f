/*
 * The gate between samples and the JVM: src/jvm opens it with the functions that tell a thread's Java frames, and can
 * close it so that no thread is behind it any more.
 *
 * A thread that goes through marks its block, so that it does not go through a second time while what it asks allocates
 * or is interrupted, and so that whoever closes the gate can wait for it.
 */
#ifndef MALLOMETER_SAMPLE_JAVA_GATE_H
#define MALLOMETER_SAMPLE_JAVA_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/thread_block.h"
#include "sample/native_stack.h"

/* Both run inside of malloc: they allocate nothing, lock nothing, keep errno. */
struct java_stacks {
  /* What the calling thread is to the JVM; NULL if it is none of its threads, or is in no state to be asked. */
  void *(*thread)(void);
  /*
   * Writes the Java frames of the calling thread, innermost first, as in stack_tree.h. `caller` is what called native
   * code, as in native_stack.h. Returns how many, at most `capacity`; below 0 if the JVM does not tell.
   */
  int (*walk)(void *thread, const struct registers *caller, uint64_t *frames, uint32_t capacity);
  /*
   * A frame that notes where Java code called native code, so that its Java frames can be mended by whoever reads the
   * stack (jvm/foreign_calls.h); 0 for none. `outermost` is the outermost native frame, 0 if there is none.
   */
  uint64_t (*note_call)(const struct registers *caller, uint64_t outermost);
  /* The library that the JVM is; both 0 if it is not known, or is one with the program. */
  uintptr_t jvm_begin, jvm_end;
};

#define MOST_JAVA_FRAMES 512u

/* `stacks` stays valid for good. */
void java_gate_open(const struct java_stacks *stacks);

/* No thread goes through from now on. */
void java_gate_close(void);

/* Closes the gate, and waits until no thread is behind it, a tenth of a second at most. */
void java_gate_close_and_wait(void);

bool java_gate_is_open(void);

/* Whether code at the address is the JVM's. False if the gate is closed. */
bool is_code_of_jvm(uintptr_t address);

/*
 * False if the gate is closed, if the thread has no block (NULL), or if it is behind the gate already. True: the thread
 * is behind the gate until java_gate_leave(), and `stacks` is what to ask; NULL if the gate has been closed meanwhile.
 */
bool java_gate_enter(struct thread_block *block, const struct java_stacks **stacks);
void java_gate_leave(struct thread_block *block);

#endif
