/* Switches counting on and off, on Linux and on Darwin. See start.h. */
#include "account/scopes.h"
#include "hooks/start.h"
#include "hooks/state.h"

void hook_detach(void) {
  malloc_leads_here = false;
  scopes_interrupt();
  hook_choose_route();
  scopes_interrupt(); /* marks scopes that were opened during hook_choose_route() as incomplete, too */
}

bool hook_was_off(void) { return __atomic_load_n(&counting_was_off, __ATOMIC_RELAXED); }

void hook_set_counting(bool on) {
  if (!on) {
    __atomic_store_n(&counting_was_off, true, __ATOMIC_RELAXED);
    scopes_interrupt();
  }
  __atomic_store_n(&counting_is_wanted, on, __ATOMIC_SEQ_CST);
  hook_choose_route();
  if (!on) scopes_interrupt();
}
