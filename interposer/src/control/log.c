/* See log.h. */
#include "control/log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "platform/system_calls.h"

#define BYTES_OF_MASK 8u /* the kernel's own */

enum log_level log_threshold = LOG_WARN;

/* Where nobody reads the program's errors any more, the kernel sends SIGPIPE, which must not end the program for ours.
 */
static void write_unharmed(const char *line, size_t length) {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigprocmask(SIG_BLOCK, &broken_pipe, &before);
  sigpending(&pending);
  if (call_write(STDERR_FILENO, line, length) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
    static const struct timespec at_once;
    syscall(SYS_rt_sigtimedwait, &broken_pipe, NULL, &at_once, BYTES_OF_MASK);
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
}

void log_line(enum log_level level, const char *format, ...) {
  if (level > log_threshold) return;
  int saved_errno = errno;
  char line[512];
  int begin = snprintf(line, sizeof line, "mallometer: ");
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line + begin, sizeof line - (size_t)begin - 1, format, arguments);
  va_end(arguments);
  if (length >= 0) {
    size_t end = (size_t)begin + (size_t)length;
    if (end > sizeof line - 2) end = sizeof line - 2;
    line[end++] = '\n';
    /* One write, so that lines of several processes do not mix; if it fails there is nobody to tell. */
    write_unharmed(line, end);
  }
  errno = saved_errno;
}
