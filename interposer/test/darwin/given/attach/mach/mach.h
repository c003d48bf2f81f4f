/* Declares functions of Mach as Apple's headers do. logic_attach.c defines these functions. */
#ifndef MALLOMETER_TEST_GIVEN_MACH_H
#define MALLOMETER_TEST_GIVEN_MACH_H

#include <stdint.h>

#define KERN_SUCCESS 0
typedef int kern_return_t;
typedef unsigned mach_port_t;
typedef uintptr_t vm_address_t;

mach_port_t mach_task_self(void);

#endif
