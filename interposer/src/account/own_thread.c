/* Threads of the library, whose own allocations are in no sum. See own_thread.h. */
#include "account/own_thread.h"

#include "account/thread_block.h"
#include "platform/thread.h"

#define STACK_BYTES ((size_t)128 << 10)

size_t own_thread_start(void *(*run)(void *)) {
  struct thread_block *own = thread_block_leave();
  size_t stack = thread_start(run, STACK_BYTES);
  thread_block_return(own);
  return stack;
}

void own_thread_begins(const char *name) {
  thread_block_leave();
  thread_set_name(name);
}
