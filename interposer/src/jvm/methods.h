/*
 * Numbers for Java methods. A stack holds a number rather than the JVM's id, because an id means nothing once the class
 * is unloaded, while the name that somebody asked for in time stays with the number.
 *
 * HotSpot never uses an id again, so a number means one method for good. Nothing is locked; a method that finds no room
 * (16,384) has no number.
 */
#ifndef MALLOMETER_JVM_METHODS_H
#define MALLOMETER_JVM_METHODS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Reserves memory for all, once. False if there is none. By one thread at a time. */
bool methods_start(void);

size_t methods_footprint(void);

/* UNKNOWN_METHOD for NULL, and if there is no room. Runs inside of malloc. */
uint32_t method_number(jmethodID id);

uint32_t method_count(void);

/* How often a method found no room. */
uint64_t methods_without_room(void);

/*
 * Up to JDK 25 an id is the address of the JVM's pointer to the method, which is NULL when the class is gone, and stays
 * allocated for good. From JDK 26 on it is a number, which the JVM looks up and forgets with the class: it must not be
 * read through.
 */
bool method_ids_are_addresses(jvmtiEnv *tools);

/* Asks the JVM. `out` is zeroed. 0; -EINVAL: no such number; -ESRCH: the class was unloaded. */
int method_describe(jvmtiEnv *tools, JNIEnv *thread, uint32_t number, struct mallometer_method *out);

#endif
