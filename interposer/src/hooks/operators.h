/*
 * What operator new does when the allocator has nothing: the next operator's affair, which calls the program's new
 * handler and tries again until that gives up, and throws std::bad_alloc or returns NULL (operators.c). `origin` is
 * the call of the code that wants the object.
 */
#ifndef MALLOMETER_HOOKS_OPERATORS_H
#define MALLOMETER_HOOKS_OPERATORS_H

#include <stddef.h>

#include "sample/sampler.h"

void *operator_new_fails(size_t size, struct origin origin);
void *operator_new_nothrow_fails(size_t size, const void *nothrow, struct origin origin);
void *operator_new_aligned_fails(size_t size, size_t alignment, struct origin origin);
void *operator_new_aligned_nothrow_fails(size_t size, size_t alignment, const void *nothrow, struct origin origin);

#endif
