/*
 * The operators of other libraries, and operator new when memory has run out. See operators.h.
 *
 * When memory has run out, an operator new must call the new handler, try again, and finally throw std::bad_alloc or
 * return NULL. This library calls the next library's operator to do that. The C++ library's operator calls malloc
 * again, which counts the object. An allocator's own operator does not call malloc, so call_next() counts the object.
 *
 * Exceptions may pass through this file's functions. The compiler's unwind tables suffice for that.
 */
#include "hooks/operators.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/next.h"
#include "hooks/complete.h"
#include "hooks/state.h"
#include "platform/dynamic_symbols.h"

static const struct {
  const char *name;
  enum operator_form derived_from;
} forms[OPERATOR_FORMS] = {
#define ROW(form, name, derived_from) [form] = {#name, derived_from},
    EACH_OPERATOR(ROW)
#undef ROW
};

/* ---- Operators of other libraries ---------------------------------------------------------------------- */

/*
 * Operators of other libraries, for each form (variant) of new or delete. NULL stands for this library's own operator.
 *
 * `resolved` has the operators that the program's own calls reach. `in_place` has the operators to which this library
 * passes the calls that reach its own operators.
 *
 * The arrays differ if a library before this one in the search order defines the operator. That operator is only in
 * `resolved`, because it may call this library's operator, and passing the call back to it could loop forever.
 */
static operator_function *in_place[OPERATOR_FORMS], *resolved[OPERATOR_FORMS];

operator_function *operator_in_place(enum operator_form form) { return in_place[form]; }

static operator_function *function_at(const void *address) {
  operator_function *function;
  memcpy(&function, &address, sizeof function);
  return function;
}

static bool is_cxx_library(const struct link_map *object) {
  return file_begins_with(object, "libstdc++.so") || file_begins_with(object, "libc++.so") ||
         file_begins_with(object, "libc++abi.so");
}

/*
 * Returns another library's operator for a form (variant) of new or delete, if that operator must serve instead of this
 * library's; otherwise NULL. Skips the C++ library's operator, which does the same as this library's. Skips the
 * allocator's operator if malloc_leads_here is true.
 */
static operator_function *other_definition(enum operator_form form, const struct link_map *begin,
                                           const struct link_map *end) {
  const void *address = first_definition(forms[form].name, begin, end);
  if (address && malloc_leads_here && next_allocator_contains(address)) {
    address = first_definition(forms[form].name, next_object(object_of(address)), end);
  }
  return address && !is_cxx_library(object_of(address)) ? function_at(address) : NULL;
}

/* The C++ library's nothrow forms, which catch the exceptions of the throwing forms. This library is written in C
 * and cannot catch exceptions. Without a C++ library the exception reaches the caller. */
static operator_function *of_cxx_library[OPERATOR_FORMS];

static operator_function *of_linked_cxx_library(enum operator_form form) {
  const void *found = NULL;
  for (const struct link_map *object = first_object(); object && !found; object = next_object(object)) {
    if (is_cxx_library(object)) found = function_in(object, forms[form].name);
  }
  return function_at(found);
}

static void *nothrow_in_place(enum operator_form form, uintptr_t size, uintptr_t second, uintptr_t third,
                              const void *caller) {
  operator_function *catching = __atomic_load_n(&of_cxx_library[form], __ATOMIC_RELAXED);
  if (!catching) { /* the C++ library may have been opened since the start */
    catching = function_at(next_operator(forms[form].name, caller, false));
    __atomic_store_n(&of_cxx_library[form], catching, __ATOMIC_RELAXED);
  }
  return (catching ? catching : resolved[forms[form].derived_from])(size, second, third);
}

#define NOTHROW_IN_PLACE(form)                                                         \
  static void *in_place_of_##form(uintptr_t size, uintptr_t second, uintptr_t third) { \
    return nothrow_in_place(form, size, second, third, __builtin_return_address(0));   \
  }
NOTHROW_IN_PLACE(NEW_NOTHROW)
NOTHROW_IN_PLACE(NEW_ARRAY_NOTHROW)
NOTHROW_IN_PLACE(NEW_ALIGNED_NOTHROW)
NOTHROW_IN_PLACE(NEW_ARRAY_ALIGNED_NOTHROW)

/* The alignment is the third argument of this form, and the second of the form that it calls. */
static void *in_place_of_DELETE_SIZED_ALIGNED(uintptr_t object, uintptr_t size, uintptr_t alignment) {
  return resolved[DELETE_ALIGNED](object, alignment, size);
}

static void *in_place_of_DELETE_ARRAY_SIZED_ALIGNED(uintptr_t object, uintptr_t size, uintptr_t alignment) {
  return resolved[DELETE_ARRAY_ALIGNED](object, alignment, size);
}

static operator_function *derived(enum operator_form form) {
  switch (form) {
#define CASE(form) \
  case form:       \
    return in_place_of_##form
    CASE(NEW_NOTHROW);
    CASE(NEW_ARRAY_NOTHROW);
    CASE(NEW_ALIGNED_NOTHROW);
    CASE(NEW_ARRAY_ALIGNED_NOTHROW);
    CASE(DELETE_SIZED_ALIGNED);
    CASE(DELETE_ARRAY_SIZED_ALIGNED);
#undef CASE
    default:
      return resolved[forms[form].derived_from];
  }
}

void operators_find(void) {
  static bool found;
  const struct link_map *own = found ? NULL : own_object();
  found = true;
  for (enum operator_form form = 0; own && form < OPERATOR_FORMS; form++) {
    in_place[form] = other_definition(form, next_object(own), NULL);
    of_cxx_library[form] = of_linked_cxx_library(form);
    if (!in_place[form] && resolved[forms[form].derived_from]) in_place[form] = derived(form);
    operator_function *before = other_definition(form, first_object(), own);
    resolved[form] = before ? before : in_place[form];
  }
}

void operators_take_over(void) {
  for (enum operator_form form = 0; form < OPERATOR_FORMS; form++) in_place[form] = NULL;
}

/* ---- Memory has run out -------------------------------------------------------------------------------- */

/*
 * Calls the next library's operator of this name, which calls the program's new handler. Counts the object if that
 * operator belongs to the allocator. If no other library has the operator, returns NULL, or aborts if the operator
 * may throw: a program without a C++ library could not catch an exception.
 */
static void *call_next(const char *mangled_name, bool may_throw, uintptr_t size, uintptr_t second, uintptr_t third,
                       struct origin origin) {
  const void *address = next_operator(mangled_name, origin.caller, true);
  if (!address && may_throw) abort();
  void *object = address ? function_at(address)(size, second, third) : NULL;
  if (object && next_allocator_contains(address)) complete_count_foreign_allocation(object, size, origin);
  return object;
}

void *operator_new_fails(size_t size, struct origin origin) { return call_next("_Znwm", true, size, 0, 0, origin); }

void *operator_new_aligned_fails(size_t size, size_t alignment, struct origin origin) {
  return call_next("_ZnwmSt11align_val_t", true, size, alignment, 0, origin);
}

void *operator_new_nothrow_fails(size_t size, const void *nothrow, struct origin origin) {
  return call_next("_ZnwmRKSt9nothrow_t", false, size, (uintptr_t)nothrow, 0, origin);
}

void *operator_new_aligned_nothrow_fails(size_t size, size_t alignment, const void *nothrow, struct origin origin) {
  return call_next("_ZnwmSt11align_val_tRKSt9nothrow_t", false, size, alignment, (uintptr_t)nothrow, origin);
}
