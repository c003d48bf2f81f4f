/*
 * Numbers for Java methods. A stack holds a number rather than the JVM's id, because an id means nothing once the class
 * is unloaded, while the name that somebody asked for in time stays with the number.
 *
 * Ids are never used again by HotSpot up to JDK 25, so a number means one method for good. Nothing is locked; a method
 * that finds no room (16,384) has no number.
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

/* Asks the JVM. `out` is zeroed. 0; -EINVAL: no such number; -ESRCH: the class was unloaded. */
int method_describe(jvmtiEnv *tools, JNIEnv *thread, uint32_t number, struct mallometer_method *out);

#endif
