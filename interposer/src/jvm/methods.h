/*
 * Gives numbers to Java methods. Stacks store these numbers instead of the JVM's method ids, which mean nothing once
 * the class is unloaded. HotSpot never reuses an id. A number therefore always means the same method, and the method's
 * name stays valid.
 *
 * The table needs no lock and has room for 16,384 methods.
 */
#ifndef MALLOMETER_JVM_METHODS_H
#define MALLOMETER_JVM_METHODS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Reserves memory for the whole table, once. Returns false if there is none. Only one thread may call this at a time.
 */
bool methods_start(void);

size_t methods_footprint(void);

/* Returns the number of an id; UNKNOWN_METHOD for NULL, or if the table is full. May be called inside of malloc. */
uint32_t method_number(jmethodID id);

uint32_t method_count(void);

/* Returns how many calls of method_number() found no room for a new method. */
uint64_t methods_without_room(void);

/* Returns whether ids are addresses. Up to JDK 25 an id is the address of the JVM's pointer to the method. The
 * pointer stays allocated for good, and is NULL when the class is unloaded. From JDK 26 on an id is a number. */
bool method_ids_are_addresses(jvmtiEnv *tools);

/* Asks the JVM about a method. `out` must be zeroed. Returns 0; -EINVAL if there is no such number; -ESRCH if the
 * class was unloaded. */
int method_describe(jvmtiEnv *tools, JNIEnv *thread, uint32_t number, struct mallometer_method *out);

#endif
