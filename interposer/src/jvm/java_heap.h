/*
 * The parts of the Java heap without objects, and whether a collection has moved objects, for the search for lost
 * memory (leak/search.h). Free parts contain words of earlier objects, which are no references to lost memory.
 *
 * HotSpot describes its structures for its own tools (gHotSpotVMStructs of its vmStructs.cpp): where the regions of G1
 * and the spaces of Parallel and Serial are, and where their objects end. Other collectors are not supported.
 */
#ifndef MALLOMETER_JVM_JAVA_HEAP_H
#define MALLOMETER_JVM_JAVA_HEAP_H

#include "leak/heap_parts.h"

/* Returns the functions that find the heap's free parts; NULL if there is no JVM, or its heap is not known. Enters the
 * loader. */
const struct heap_parts *java_heap_parts(void);

#endif
