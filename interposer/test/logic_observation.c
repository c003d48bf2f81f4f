/*
 * The thread that looks at slots, over given time and given uses: each of its waits is an epoch, in which the test says
 * which objects were used, what cannot be read, and what becomes of pages.
 */
#include "leak/observation.h"

#include <errno.h>

#include "account/thread_block.h"
#include "leak/evidence.h"
#include "leak/placement.h"
#include "leak/slots.h"
#include "platform/given.h"
#include "sample/call_sites.h"
#include "sample/native_stack.h"

#define SECOND UINT64_C(1000000000)
/* Whole units of slots' times, and more than 1 s. */
#define EPOCH_MS 1024u

enum { SIZE = 100, CANARIES = 8, IDLE_CANARIES = 2 };

static char stack[65536];
static _Alignas(16) char object_of_allocator[SIZE];
static struct thread_block *own;

/* ---- Uses of pages ------------------------------------------------------------------------------------- */

static bool used[SLOTS], locked[SLOTS], unmapped[SLOTS];
static bool canaries_are_idle;
static int error_of_reading; /* 0: none */

static uint32_t slots(void) {
  struct slots_totals totals = slots_totals();
  uint32_t sum = 0;
  for (unsigned i = 0; i < MALLOMETER_SLOT_CLASSES; i++) sum += totals.slots[i];
  return sum;
}

static bool tell_uses(bool (*mapping)(uintptr_t begin, bool was_used)) {
  errno = error_of_reading;
  if (error_of_reading) return false;
  for (unsigned i = 0; i < CANARIES + IDLE_CANARIES; i++) {
    uintptr_t canary = (uintptr_t)slots_pages_before() + (1 + i) * given_page_bytes;
    if (!mapping(canary, i < CANARIES && !canaries_are_idle)) return true;
  }
  for (uint32_t i = 0; i < slots(); i++) {
    if (slot_opened(i) && !unmapped[i] && !mapping(slot_address(i), used[i])) return true;
  }
  return true;
}

static bool clear_use(uintptr_t begin) {
  if (!is_in_slots((void *)begin)) return true;
  uint32_t slot = slot_number((void *)begin);
  if (locked[slot]) return false;
  used[slot] = false;
  return true;
}

static bool is_unmapped(uintptr_t begin) { return unmapped[slot_number((void *)begin)]; }

/* ---- The program --------------------------------------------------------------------------------------- */

static void *allocate(void) {
  struct thread_block *of_observer = current_block;
  struct sample sample = {.block = own,
                          .object = object_of_allocator,
                          .requested = SIZE,
                          .bytes = SIZE,
                          .move = {.alignment = 16, .contents = SIZE},
                          .origin = {(const void *)0x10000, stack + sizeof stack - 64},
                          .probability = 1};
  current_block = own;
  void *object = call_sites_take(&sample);
  current_block = of_observer;
  return object == object_of_allocator ? NULL : object;
}

static struct mallometer_observation now(void) {
  struct mallometer_observation observation = {.size = sizeof observation};
  observation_describe(&observation);
  return observation;
}

static const struct mallometer_site_evidence *evidence(void) {
  static struct mallometer_site_evidence row;
  struct rows to = {&row, sizeof row, 1};
  CHECK_EQUAL(evidence_copy(&to, 0), 1);
  return &row;
}

/* Runs the observer until it gives up, `script` at each of its waits. */
static void observe(void (*script)(void)) {
  given_monotonic_ns = (uint64_t)1 << 44;
  given_stack = (struct own_stack){(uintptr_t)stack, (uintptr_t)stack + sizeof stack};
  current_block = &no_block_yet;
  own = thread_block_acquire();
  native_stack_start(UNWIND_BY_FRAME_POINTERS);
  CHECK(!call_sites_start());
  call_sites_open();
  given_page_uses = tell_uses;
  given_page_clear = clear_use;
  given_page_unmapped = is_unmapped;
  given_wait = script;
  CHECK(observation_shorten(EPOCH_MS));
  CHECK_EQUAL(observation_start(NULL), 0);
  CHECK_EQUAL(now().state, MALLOMETER_LEAKS_STARTING);
  given_thread(NULL);
  CHECK_EQUAL(now().state, MALLOMETER_LEAKS_FAILED);
}

static unsigned epoch;
static void *object;

static uint32_t slot_of_object(void) { return slot_number(object); }

/* In the first epochs nothing is placed; then there is one object. */
enum { FIRST = EPOCHS_BEFORE_SLOTS + 1 };

static bool object_is_there(void) {
  epoch++;
  if (epoch <= FIRST) {
    object = allocate();
    CHECK(!object == (epoch < FIRST));
  }
  return epoch >= FIRST;
}

static void give_up(void) { error_of_reading = EIO; }

/* ---- Cases --------------------------------------------------------------------------------------------- */

/* Used in its second epoch and, after three in which it was not, in the sixth. */
static void uses_it_twice(void) {
  if (!object_is_there()) return;
  if (epoch == FIRST + 1 || epoch == FIRST + 5) used[slot_of_object()] = true;
  if (epoch == FIRST + 7) give_up();
}

CASE(the_gap_between_two_uses_is_known) {
  observe(uses_it_twice);
  const struct mallometer_durations *gaps = &evidence()->gaps;
  CHECK_EQUAL(gaps->count, 1);
  /* 4 epochs of 1.024 s, in units of 1/64 s: 262, which is 2^8 and a little. */
  CHECK(gaps->weight[16] == 1);
  CHECK(strstr(now().reason, "the use of pages"));
}

/* Without the canaries nobody knows since when it was idle: a use at the end of such an epoch ends no gap. */
static void has_void_epochs(void) {
  if (!object_is_there()) return;
  canaries_are_idle = epoch > FIRST + 3 && epoch <= FIRST + 6;
  if (epoch == FIRST + 1 || epoch == FIRST + 4) used[slot_of_object()] = true;
  if (epoch == FIRST + 8) {
    CHECK_EQUAL(now().void_epochs, 3);
    CHECK_EQUAL(now().epochs, epoch - 1);
    CHECK_EQUAL(evidence()->gaps.count, 0);
    give_up();
  }
}

CASE(void_epochs_are_counted_and_prove_nothing) { observe(has_void_epochs); }

static void locks_its_page(void) {
  struct slot_object seen;
  if (!object_is_there()) return;
  if (epoch == FIRST + 1) used[slot_of_object()] = locked[slot_of_object()] = true;
  if (epoch == FIRST + 3) {
    CHECK(slot_look(slot_of_object(), &seen) && seen.unseen);
    locked[slot_of_object()] = used[slot_of_object()] = false;
  }
  if (epoch == FIRST + 5) {
    CHECK(slot_look(slot_of_object(), &seen) && !seen.unseen);
    give_up();
  }
}

CASE(a_locked_object_is_not_seen_until_it_is_unlocked) { observe(locks_its_page); }

static void frees_it_past_us(void) {
  if (!object_is_there()) return;
  if (epoch == FIRST + 1) unmapped[slot_of_object()] = true;
  if (epoch == FIRST + 2) {
    struct slot_object seen;
    CHECK(!slot_look(slot_of_object(), &seen));
    CHECK_EQUAL(now().retired, 1);
    give_up();
  }
}

CASE(an_object_whose_pages_are_gone_is_freed) {
  observe(frees_it_past_us);
  struct mallometer_site site;
  struct rows to = {&site, sizeof site, 1};
  CHECK_EQUAL(call_sites_copy(&to, 0), 1);
  CHECK_EQUAL(site.allocated.samples, FIRST);
  CHECK_EQUAL(site.freed.samples, FIRST); /* those that stayed where they were had all the same address */
}

static void has_no_descriptors(void) {
  if (!object_is_there()) return;
  error_of_reading = epoch > FIRST && epoch <= FIRST + 10 ? EMFILE : 0;
  if (epoch == FIRST + 12) {
    CHECK_EQUAL(now().state, MALLOMETER_LEAKS_ON);
    CHECK_EQUAL(now().epochs, epoch - 1 - 10);
  }
  if (epoch >= FIRST + 12) give_up();
}

CASE(what_passes_is_waited_for_and_the_rest_ends_it_after_three) {
  observe(has_no_descriptors);
  CHECK_EQUAL(epoch, FIRST + 12 + 2);
}

/* Stops, and starts again when it waits for nothing but that. */
static void stops_and_starts(void) {
  if (epoch == FIRST + 3) {
    epoch = 100;
    CHECK_EQUAL(now().state, MALLOMETER_LEAKS_OFF);
    CHECK(!slots_are_open());
    CHECK_EQUAL(observation_start(NULL), 0);
    return;
  }
  if (epoch >= 100) {
    CHECK_EQUAL(now().epochs, 0);
    CHECK(slots_are_open());
    give_up();
    return;
  }
  if (object_is_there() && epoch == FIRST + 3) CHECK_EQUAL(observation_stop(), 0);
}

CASE(it_rests_while_nobody_asks) { observe(stops_and_starts); }

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  RUN(the_gap_between_two_uses_is_known);
  RUN(void_epochs_are_counted_and_prove_nothing);
  RUN(a_locked_object_is_not_seen_until_it_is_unlocked);
  RUN(an_object_whose_pages_are_gone_is_freed);
  RUN(what_passes_is_waited_for_and_the_rest_ends_it_after_three);
  RUN(it_rests_while_nobody_asks);
  return 0;
}
