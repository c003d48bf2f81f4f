/* No watchpoints: nobody can be asked for a processor's debug registers. See leak/watch.h and leak/trial.h. */
#include "leak/watch.h"

#include "leak/trial.h"

const char *trial_of_slots(void) { return NULL; }

const char *trial_of_watch(void) { return "there are no debug registers"; }

const char *watch_sites(const uint32_t *sites, uint32_t count) {
  (void)sites;
  return count ? trial_of_watch() : NULL;
}

const char *watch_look_after_signal(void) { return NULL; }

bool watch_is_on(void) { return false; }

void watch_new_object(const struct slot_object *object) { (void)object; }

void watch_forked(void) {}
