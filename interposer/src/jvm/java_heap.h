/*
 * Finds the parts of the Java heap that contain no objects. The search for lost memory (leak/search.h) does not count
 * the words there as references, because they are left over from earlier objects. Also tells whether a collection has
 * moved objects.
 *
 * The positions of G1's regions and of the spaces of Parallel and Serial come from gHotSpotVMStructs (vmStructs.cpp).
 * Other collectors are not supported.
 */
#ifndef MALLOMETER_JVM_JAVA_HEAP_H
#define MALLOMETER_JVM_JAVA_HEAP_H

#include "leak/heap_parts.h"

/* Returns the functions that find the heap's free parts; NULL without a JVM, or if its heap is not known. Takes the
 * dynamic loader's lock. */
const struct heap_parts *java_heap_parts(void);

#endif
