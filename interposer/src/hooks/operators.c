/*
 * operator new when memory has run out.
 *
 * What is right then is the C++ library's business: call the new handler, try again, at last throw std::bad_alloc or
 * return NULL. So the next operator is looked up, at a failure only, and called. The C++ library's tries malloc again,
 * which is ours and counts; an allocator's own operator tries its own memory, and what it finds is counted here.
 *
 * An exception passes through these frames; the compiler's unwind tables suffice for that.
 */
#include "hooks/operators.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/next.h"
#include "hooks/complete.h"
#include "platform/interposed.h"

/* A program that uses operator new and has no C++ library anywhere cannot be thrown at. */
static void *operator_or_abort(const char *mangled_name, const void *caller) {
  void *address = next_operator(mangled_name, caller);
  if (!address) abort();
  return address;
}

static void *counted_once(void *object, size_t size, const void *operator_address, struct origin origin) {
  if (object && next_allocator_contains(operator_address)) complete_adoption(object, size, origin);
  return object;
}

void *operator_new_fails(size_t size, struct origin origin) {
  void *(*function)(size_t);
  void *address = operator_or_abort("_Znwm", origin.caller);
  memcpy(&function, &address, sizeof function);
  return counted_once(function(size), size, address, origin);
}

void *operator_new_aligned_fails(size_t size, size_t alignment, struct origin origin) {
  void *(*function)(size_t, size_t);
  void *address = operator_or_abort("_ZnwmSt11align_val_t", origin.caller);
  memcpy(&function, &address, sizeof function);
  return counted_once(function(size, alignment), size, address, origin);
}

/* Without an operator that knows the new handler, failing is all that is left. */
void *operator_new_nothrow_fails(size_t size, const void *nothrow, struct origin origin) {
  void *(*function)(size_t, const void *);
  void *address = next_operator("_ZnwmRKSt9nothrow_t", origin.caller);
  if (!address) return NULL;
  memcpy(&function, &address, sizeof function);
  return counted_once(function(size, nothrow), size, address, origin);
}

void *operator_new_aligned_nothrow_fails(size_t size, size_t alignment, const void *nothrow, struct origin origin) {
  void *(*function)(size_t, size_t, const void *);
  void *address = next_operator("_ZnwmSt11align_val_tRKSt9nothrow_t", origin.caller);
  if (!address) return NULL;
  memcpy(&function, &address, sizeof function);
  return counted_once(function(size, alignment, nothrow), size, address, origin);
}
