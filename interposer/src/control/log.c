/* Writes one line to standard error in a way that never stops or ends the program. See log.h. */
#include "control/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "platform/keep_errno.h"
#include "platform/standard_error.h"

enum log_level log_threshold = LOG_WARN;

void log_line(enum log_level level, const char *format, ...) {
  if (level > log_threshold) return;
  KEEP_ERRNO;
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
    standard_error_write(line, end);
  }
}
