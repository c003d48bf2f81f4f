/* Defines syscall() in the test program. The library calls this function instead of the C library's, so a test can
 * make system calls of the library fail. The C library itself does not use syscall(). */
#ifndef MALLOMETER_TEST_OWN_SYSTEM_CALL_H
#define MALLOMETER_TEST_OWN_SYSTEM_CALL_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Defined by the test. Returns the error with which the library's system call fails, or 0 to let the kernel execute
 * it. */
static int error_of_call(long number, const long *arguments);

static long answer_of_kernel(long number, const long *arguments) {
#if defined(__x86_64__)
  long result;
  register long fourth __asm__("r10") = arguments[3];
  register long fifth __asm__("r8") = arguments[4];
  register long sixth __asm__("r9") = arguments[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth),
                     "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long call __asm__("x8") = number;
  register long first __asm__("x0") = arguments[0];
  register long second __asm__("x1") = arguments[1];
  register long third __asm__("x2") = arguments[2];
  register long fourth __asm__("x3") = arguments[3];
  register long fifth __asm__("x4") = arguments[4];
  register long sixth __asm__("x5") = arguments[5];
  __asm__ volatile("svc 0"
                   : "+r"(first)
                   : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return first;
#endif
}

long syscall(long number, ...) {
  long arguments[6];
  va_list all;
  va_start(all, number);
  for (int i = 0; i < 6; i++) arguments[i] = va_arg(all, long);
  va_end(all);
  int error = error_of_call(number, arguments);
  long result = error != 0 ? -error : answer_of_kernel(number, arguments);
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}

#endif
