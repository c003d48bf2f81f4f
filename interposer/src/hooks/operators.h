/*
 * C++'s operators: which definitions serve instead of this library's, and what this library's operators do when memory
 * has run out.
 *
 * A program may replace only some operators, such as new and delete by those of a pool. By the standard the other forms
 * (variants) then call the replaced ones: new[] calls new, a nothrow new calls the throwing new, delete[] and sized
 * delete call delete. This library's forms hide the C++ library's, so they must make the same calls. Otherwise an
 * object of the pool could be freed by the allocator, or an object of the allocator by the pool.
 */
#ifndef MALLOMETER_HOOKS_OPERATORS_H
#define MALLOMETER_HOOKS_OPERATORS_H

#include <stddef.h>
#include <stdint.h>

#include "hooks/interposed.h"
#include "sample/sampler.h"

#define OPERATOR_FORM(form, name, derived_from) form,
enum operator_form { EACH_OPERATOR(OPERATOR_FORM) OPERATOR_FORMS };
#undef OPERATOR_FORM

/* The type of all operators. They take up to three words in registers, and each reads only its own parameters. */
typedef void *operator_function(uintptr_t first, uintptr_t second, uintptr_t third);
#define OPERATOR(function) ((operator_function *)(void (*)(void))(function))

/*
 * Finds the operators of other linked or preloaded libraries that serve instead of this library's. Called when the next
 * allocator is found, or earlier in a process whose malloc is not this library's. Further calls do nothing. The
 * operators of libraries that the program opens later stay unknown.
 */
void operators_find(void);

/* Makes this library's own operators serve all calls of new and delete that arrive here. Called at an attach, which
 * redirects only calls of the allocator's operators to this library. */
void operators_take_over(void);

/* Returns the operator of another library that serves this form (variant) of new or delete; NULL if this library's
 * own operator serves it. */
operator_function *operator_in_place(enum operator_form form);

/*
 * Called when an operator new gets no memory. Calls the next operator, which calls the program's new handler and tries
 * again until the handler gives up, and then throws std::bad_alloc or returns NULL. `origin` is the place where the
 * program called operator new.
 */
void *operator_new_fails(size_t size, struct origin origin);
void *operator_new_nothrow_fails(size_t size, const void *nothrow, struct origin origin);
void *operator_new_aligned_fails(size_t size, size_t alignment, struct origin origin);
void *operator_new_aligned_nothrow_fails(size_t size, size_t alignment, const void *nothrow, struct origin origin);

#endif
