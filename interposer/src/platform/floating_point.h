/*
 * The program's floating-point environment (which exceptions happened and which trap, how to round) is to malloc what
 * errno is: who asked for memory did no arithmetic. Code of ours that computes with doubles does so in a function that
 * is not inlined, between these two. On other processors than x86-64 they do nothing yet.
 */
#ifndef MALLOMETER_PLATFORM_FLOATING_POINT_H
#define MALLOMETER_PLATFORM_FLOATING_POINT_H

#if defined(__x86_64__)
/* Of MXCSR: no exception happened, none traps, round to nearest. */
#define FLOATING_POINT_DEFAULT 0x1f80u

static inline unsigned floating_point_enter(void) {
  unsigned of_program = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(FLOATING_POINT_DEFAULT);
  return of_program;
}

static inline void floating_point_leave(unsigned of_program) { __builtin_ia32_ldmxcsr(of_program); }
#else
static inline unsigned floating_point_enter(void) { return 0; }

static inline void floating_point_leave(unsigned of_program) { (void)of_program; }
#endif

#endif
