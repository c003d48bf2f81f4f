/*
 * C++'s operators: which serve in place of ours, and what ours do when the allocator has nothing.
 *
 * A program may replace some operators only, operator new(size_t) and operator delete(void *) by those of a pool, say.
 * The standard has the other forms call these: new[] calls new, new that does not throw calls the one that does,
 * delete[] and sized delete call delete. Without a preload the C++ library's forms do so. Ours stand before the C++
 * library's, and must not give out or take back what is the pool's.
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

/* Any of them. They take up to three words, in registers of which each form reads its own. */
typedef void *operator_function(uintptr_t first, uintptr_t second, uintptr_t third);
#define OPERATOR(function) ((operator_function *)(void (*)(void))(function))

/*
 * Finds out which operators of others serve. At the start: once the next allocator was found, or if malloc is not ours.
 * Who is linked with the program or preloaded is known then. A library that is opened later and replaces operators is
 * not: where its own calls do not lead to its operators, they lead to ours. No effect the second time.
 */
void operators_find(void);

/*
 * Has ours serve in every form. In a process that was not preloaded, calls come here that led to the operators of the
 * allocator; whoever replaced operators is called as ever.
 */
void operators_take_over(void);

/* What serves a form in place of ours; NULL if ours does. */
operator_function *operator_in_place(enum operator_form form);

/*
 * What our operators new do when the allocator has nothing: the next operator's affair, which calls the program's new
 * handler and tries again until that gives up, and throws std::bad_alloc or returns NULL. `origin` is the call of the
 * code that wants the object.
 */
void *operator_new_fails(size_t size, struct origin origin);
void *operator_new_nothrow_fails(size_t size, const void *nothrow, struct origin origin);
void *operator_new_aligned_fails(size_t size, size_t alignment, struct origin origin);
void *operator_new_aligned_nothrow_fails(size_t size, size_t alignment, const void *nothrow, struct origin origin);

#endif
