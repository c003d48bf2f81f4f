/*
 * The compiler includes this header before each source file under test (-include). The header makes each atomic load,
 * compare-and-exchange and change of bits a point of interruption, at which the test can act as another thread
 * (given.h).
 */
#ifndef MALLOMETER_TEST_PLATFORM_INTERRUPT_H
#define MALLOMETER_TEST_PLATFORM_INTERRUPT_H

void point_of_interruption(void);

#define __atomic_load_n(...) (point_of_interruption(), __atomic_load_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (point_of_interruption(), __atomic_compare_exchange_n(__VA_ARGS__))
#define __atomic_fetch_or(...) (point_of_interruption(), __atomic_fetch_or(__VA_ARGS__))
#define __atomic_fetch_and(...) (point_of_interruption(), __atomic_fetch_and(__VA_ARGS__))

#endif
