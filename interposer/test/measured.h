/* Marks what callgrind measures of a program (instructions.sh): the last `count` rounds of a loop. The 10,000 rounds
 * before them fill the library's tables. The program then ends by _exit(), which takes few instructions. */
#ifndef MALLOMETER_TEST_MEASURED_H
#define MALLOMETER_TEST_MEASURED_H

static __attribute__((noinline, noclone)) void measure_from_here(void) { __asm__ volatile(""); }

#define MEASURED_ROUNDS(i, count) for (long i = -10000; i < (count); ++i == 0 ? measure_from_here() : (void)0)

#endif
