/* The gate between samples and the JVM. src/jvm opens the gate, and passes functions that read a thread's Java
 * frames. It can also close the gate, and wait until no thread runs these functions. */
#ifndef MALLOMETER_SAMPLE_JAVA_GATE_H
#define MALLOMETER_SAMPLE_JAVA_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/thread_block.h"
#include "sample/native_stack.h"

/* The functions of the JVM. They run inside of malloc, do not allocate or lock, and preserve errno. */
struct java_stacks {
  /* Returns the JVM's handle of the calling thread; NULL if the thread is not the JVM's, or is in a state that allows
   * no walk. */
  void *(*thread)(void);
  /*
   * Writes the Java frames of the calling thread, innermost first (see stack_tree.h). `caller` has the registers of the
   * Java or generated code at its call of native code. Returns the number of frames, at most `capacity`; negative if
   * the JVM cannot walk the stack.
   */
  int (*walk)(void *thread, const struct registers *caller, uint64_t *frames, uint32_t capacity);
  /* Returns an extra frame that stands for the return address of a call from compiled Java code to native code
   * (jvm/foreign_calls.h); 0 if no frame is needed. `outermost` is the outermost native frame, or 0. */
  uint64_t (*note_call)(const struct registers *caller, uint64_t outermost);
  /* The address range of the JVM's library. Both are 0 if the range is unknown, or if the JVM is linked into the
   * program's file. */
  uintptr_t jvm_begin, jvm_end;
};

#define MOST_JAVA_FRAMES 512u

/* Lets samples call the functions in `stacks`, which must stay valid until the process ends. */
void java_gate_open(const struct java_stacks *stacks);

/* Stops samples from calling functions of the JVM. Does not wait for threads that are running one. */
void java_gate_close(void);

/* Closes the gate, and waits at most a tenth of a second for threads that are running functions of the JVM. */
void java_gate_close_and_wait(void);

bool java_gate_is_open(void);

/* Returns whether an address is code of the JVM; false if the gate is closed. */
bool is_code_of_jvm(uintptr_t address);

/*
 * Lets the calling thread call functions of the JVM until java_gate_leave(). Returns false if the gate is closed, if
 * `block` is NULL, or if the thread is already in the gate. If another thread closes the gate during the call, the
 * result is true but `stacks` is NULL.
 */
bool java_gate_enter(struct thread_block *block, const struct java_stacks **stacks);
void java_gate_leave(struct thread_block *block);

#endif
