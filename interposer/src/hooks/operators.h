/*
 * What operator new does when the allocator has nothing: the next operator's affair, which calls the program's new
 * handler and tries again until that gives up, and throws std::bad_alloc or returns NULL (operators.c). `caller` is an
 * address in the code that wants the object.
 */
#ifndef MALLOMETER_HOOKS_OPERATORS_H
#define MALLOMETER_HOOKS_OPERATORS_H

#include <stddef.h>

void *operator_new_fails(size_t size, const void *caller);
void *operator_new_nothrow_fails(size_t size, const void *nothrow, const void *caller);
void *operator_new_aligned_fails(size_t size, size_t alignment, const void *caller);
void *operator_new_aligned_nothrow_fails(size_t size, size_t alignment, const void *nothrow, const void *caller);

#endif
