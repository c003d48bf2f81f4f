/* The gate between samples and the JVM is open while the pointer `java` is not NULL. A thread sets `walks_java` in
 * its thread_block while it may call functions of the JVM. See java_gate.h. */
#include "sample/java_gate.h"

#include <stddef.h>

#include "platform/clock.h"
#include "platform/wait.h"

#define POLL_NS 100000u

static const struct java_stacks *java;

void java_gate_open(const struct java_stacks *stacks) { __atomic_store_n(&java, stacks, __ATOMIC_SEQ_CST); }

void java_gate_close(void) { java_gate_open(NULL); }

static bool thread_is_in_gate(void) {
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    const struct thread_block *block = thread_block_at(i);
    if (block && __atomic_load_n(&block->walks_java, __ATOMIC_SEQ_CST)) return true;
  }
  return false;
}

void java_gate_close_and_wait(void) {
  java_gate_close();
  for (unsigned moments = 0; moments < 1000 && thread_is_in_gate(); moments++) {
    wait_until(monotonic_ns() + POLL_NS);
  }
}

bool java_gate_is_open(void) { return __atomic_load_n(&java, __ATOMIC_RELAXED) != NULL; }

bool is_code_of_jvm(uintptr_t address) {
  const struct java_stacks *stacks = __atomic_load_n(&java, __ATOMIC_ACQUIRE);
  return stacks && address >= stacks->jvm_begin && address < stacks->jvm_end;
}

/* Sets `walks_java` before loading the pointer again. java_gate_close_and_wait() stores NULL in the pointer before
 * loading `walks_java`. So either this thread loads NULL, or the closing thread waits for it. */
bool java_gate_enter(struct thread_block *block, const struct java_stacks **stacks) {
  if (!java_gate_is_open() || !block || block->walks_java) return false;
  __atomic_store_n(&block->walks_java, 1, __ATOMIC_SEQ_CST);
  *stacks = __atomic_load_n(&java, __ATOMIC_SEQ_CST);
  return true;
}

void java_gate_leave(struct thread_block *block) { __atomic_store_n(&block->walks_java, 0, __ATOMIC_RELEASE); }
