/* Blocks SIGPIPE during the write, and removes a SIGPIPE that the write has caused. See standard_error.h. */
#include "platform/standard_error.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "platform/system_calls.h"

#define BYTES_OF_MASK 8u /* The size of the kernel's signal mask in bytes. */

void standard_error_write(const char *bytes, size_t length) {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigprocmask(SIG_BLOCK, &broken_pipe, &before);
  sigpending(&pending);
  if (call_write(STDERR_FILENO, bytes, length) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
    static const struct timespec at_once;
    syscall(SYS_rt_sigtimedwait, &broken_pipe, NULL, &at_once, BYTES_OF_MASK);
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
}
