/* Starts and ends the library's own threads. See own_thread.h. */
#include "account/own_thread.h"

#include "account/thread_block.h"
#include "platform/memory.h"
#include "platform/own_stack.h"
#include "platform/thread.h"

#define STACK_BYTES ((size_t)128 << 10)

size_t own_thread_start(void *(*run)(void *)) { return own_thread_start_with(run, STACK_BYTES); }

size_t own_thread_start_with(void *(*run)(void *), size_t stack_bytes) {
  struct thread_block *own = thread_block_leave();
  size_t stack = thread_start(run, stack_bytes);
  thread_block_return(own);
  return stack;
}

static bool find_stack(struct own_stack *stack) { return own_stack_at((uintptr_t)&stack, stack); }

void own_thread_begin(const char *name) {
  struct own_stack stack;
  thread_block_leave();
  thread_set_name(name);
  if (find_stack(&stack)) memory_own_add(stack.begin, stack.end - stack.begin);
}

void own_thread_end(void) {
  struct own_stack stack;
  if (find_stack(&stack)) memory_own_remove(stack.begin);
}
