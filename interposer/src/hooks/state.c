/* The variables of state.h, which start.c and switches.c change. */
#include "hooks/state.h"

int hook_state = HOOK_UNRESOLVED;
enum size_source size_source = SIZE_FROM_CALL;
bool malloc_leads_here;
bool malloc_is_replaced;
bool counting_is_wanted = true;
bool counting_was_off;

const struct hook_owner hook_owner __attribute__((weak)) = {0};
