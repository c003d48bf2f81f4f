/* Tests the recording of call sites and live samples on the test platform (platform/given.h), with refused memory,
 * full tables, two threads that sample the same new site, and the end of the JVM. */
#include <pthread.h>

#include "account/thread_block.h"
#include "platform/given.h"
#include "sample/call_sites.h"
#include "sample/collections.h"
#include "sample/java_gate.h"
#include "sample/live_samples.h"
#include "sample/native_stack.h"
#include "sample/sampler.h"
#include "sample/stack_tree.h"

static char stack[65536];
static struct mallometer_site sites[MOST_SITES];

static void begin_thread(void) {
  current_block = &no_block_yet;
  CHECK(thread_block_acquire());
}

static void start(void) {
  given_stack = (struct own_stack){(uintptr_t)stack, (uintptr_t)stack + sizeof stack};
  begin_thread();
  native_stack_start(UNWIND_BY_FRAME_POINTERS);
  sampler_set_interval(1);
  CHECK(!call_sites_start());
  call_sites_open();
}

static void allocate(uintptr_t caller, uintptr_t object, size_t bytes) {
  struct origin origin = {(const void *)caller, stack + sizeof stack - 64};
  sampler_visit(thread_block_acquire(), (void *)object, bytes, bytes, (struct move){0}, origin);
}

static bool deallocate(uintptr_t object) {
  struct live_sample sample = live_sample_remove((const void *)object);
  call_sites_count_free(sample);
  return sample.site != NO_SITE;
}

static uint32_t copy_sites(void) { return call_sites_copy(sites, MOST_SITES, 0); }

/* ---- Refused memory ------------------------------------------------------------------------------------ */

static int without_memory_nothing_is_recorded_until_there_is_some(unsigned request) {
  begin_thread();
  size_t of_thread = memory_taken();
  refuse_memory_request(request);
  const char *why = call_sites_start();
  if (!memory_was_refused()) {
    CHECK(!why);
    return NOT_REACHED;
  }
  CHECK(strcmp(why, "no memory for the tables of call sites") == 0);
  CHECK(!call_sites_on() && call_sites_footprint() == 0);
  CHECK(!is_live_sample(stack));
  CHECK_EQUAL(copy_sites(), 0);
  given_shortage = "a limit";
  CHECK(call_sites_start() == given_shortage);
  given_shortage = NULL;
  CHECK(!call_sites_start() && call_sites_on());
  CHECK_EQUAL(call_sites_footprint() % given_page_bytes, 0);
  CHECK_EQUAL(memory_taken() - of_thread, call_sites_footprint());
  return REACHED;
}

static void another_starts(void) { CHECK(!call_sites_start()); }

static int two_that_start_at_once_reserve_once(unsigned point) {
  interrupt_at(point, another_starts);
  CHECK(!call_sites_start());
  if (!was_interrupted()) return NOT_REACHED;
  CHECK_EQUAL(memory_taken(), call_sites_footprint());
  return REACHED;
}

/* ---- Cleaners: Java threads that free native memory of unreachable objects after a collection ---------- */

static uint32_t copy_cleaned(struct mallometer_cleaned *row) {
  return call_sites_copy_cleaned(row, 1, collections_now().old);
}

static void become_cleaner(void) {
  thread_sampling(thread_block_acquire())->cleaner = 0x1000; /* the JVM's handle of a thread that may be a cleaner */
  cleaner_seen(current_block, (void *)0x1000, true);
}

enum { OBJECT_1 = 0x1000000, OBJECT_2 = 0x2000000, OBJECT_3 = 0x3000000, OBJECT_4 = 0x4000000, OBJECT_5 = 0x5000000 };
enum { CLEANED_SIZE = 48, CLEANED_CODE = 0x1234 };
static volatile int64_t young = 3, full = 1, pauses = 4;
static const struct collection_counters counters = {&young, &full, &pauses, 2};

CASE(frees_are_told_by_the_collections_before_them) {
  struct mallometer_cleaned row = {0};
  start();
  given_monotonic_ns = 1000;
  collections_set(&counters);
  CHECK_EQUAL(collections_now().all, 6);
  CHECK_EQUAL(collections_now().old, 3);
  allocate(CLEANED_CODE, OBJECT_1, CLEANED_SIZE);
  allocate(CLEANED_CODE, OBJECT_2, CLEANED_SIZE);
  allocate(CLEANED_CODE, OBJECT_3, CLEANED_SIZE);
  allocate(CLEANED_CODE, OBJECT_4, CLEANED_SIZE);
  CHECK(!is_cleaner_thread());
  CHECK_EQUAL(copy_cleaned(&row), 0);
  become_cleaner();
  CHECK(is_cleaner_thread());
  young++;
  CHECK(deallocate(OBJECT_1));
  CHECK_EQUAL(copy_cleaned(&row), 1);
  CHECK(row.samples == 1 && row.after_first_young == 1 && row.old[0].collection == 0);
  given_monotonic_ns += 3000000000u;
  allocate(CLEANED_CODE, OBJECT_5, CLEANED_SIZE);
  pauses++; /* a collection of the old generation begins */
  CHECK_EQUAL(collections_now().old, 4);
  CHECK(collection_seen_ns(4) > 0 && collection_seen_ns(2) == 0);
  CHECK(deallocate(OBJECT_2));
  young += 2;
  CHECK(deallocate(OBJECT_3)); /* not counted in at_once, because a young collection may have caused this free */
  CHECK_EQUAL(copy_cleaned(&row), 1);
  CHECK(row.samples == 3 && row.after_first_young == 1);
  CHECK(row.old[0].collection == 4 && row.old[0].at_once == 1 && row.old[0].otherwise == 1 && row.old[0].again == 0);
  CHECK(row.old[0].first_bytes == CLEANED_SIZE && row.old[0].otherwise_bytes == CLEANED_SIZE);
  CHECK(row.old[0].again_bytes == 0);
  pauses += 2;
  CHECK_EQUAL(collections_now().old, 5);
  CHECK(deallocate(OBJECT_4));
  CHECK_EQUAL(copy_cleaned(&row), 1);
  CHECK(row.old[0].collection == 5 && row.old[0].again == 1 && row.old[0].again_bytes == CLEANED_SIZE);
  CHECK(deallocate(OBJECT_5));
  CHECK_EQUAL(copy_cleaned(&row), 1);
  CHECK(row.old[0].at_once == 2 && row.old[0].again == 1); /* OBJECT_5 was allocated while collection 4 was marking */
  CHECK(row.old[0].first_bytes == CLEANED_SIZE && row.old[0].again_bytes == CLEANED_SIZE);
  CHECK(row.old[1].collection == 4 && row.old[1].at_once == 1);
  collections_set(NULL);
  CHECK_EQUAL(collections_now().old, 0);
}

CASE(frees_by_other_threads_are_told_once_a_cleaner_frees_of_the_site) {
  struct mallometer_cleaned row = {0};
  start();
  given_monotonic_ns = 1000;
  collections_set(&counters);
  allocate(CLEANED_CODE, OBJECT_1, CLEANED_SIZE);
  allocate(CLEANED_CODE, OBJECT_2, CLEANED_SIZE);
  given_monotonic_ns += 3000000000u;
  full++;
  become_cleaner();
  CHECK(deallocate(OBJECT_1));
  thread_sampling(current_block)->cleaner = 2; /* NO_CLEANER: this thread no longer counts as a cleaner */
  CHECK(!is_cleaner_thread() && deallocate(OBJECT_2));
  CHECK_EQUAL(copy_cleaned(&row), 1);
  CHECK(row.samples == 1 && row.old[0].at_once == 1 && row.old[0].otherwise == 1);
  allocate(CLEANED_CODE, OBJECT_3, CLEANED_SIZE);
  become_cleaner();
  given_monotonic_ns += 3000000000u;
  full++;
  CHECK_EQUAL(collections_now().old, 5);
  given_monotonic_ns += 5000000001u; /* 5 s are too long for the free below to be an effect of the collection */
  CHECK(deallocate(OBJECT_3));
  CHECK_EQUAL(copy_cleaned(&row), 1);
  CHECK(row.old[0].at_once == 0 && row.old[0].otherwise == 1 && row.old[1].at_once == 1);
  collections_set(NULL);
}

CASE(a_candidate_is_told_by_its_handle) {
  start();
  thread_sampling(thread_block_acquire())->cleaner = 0x1000;
  CHECK(cleaner_candidate(current_block) == (void *)0x1000);
  cleaner_seen(current_block, (void *)0x2000, true);
  CHECK(!is_cleaner_thread());
  cleaner_seen(current_block, (void *)0x1000, false);
  CHECK(!is_cleaner_thread() && cleaner_candidate(current_block) == (void *)0x1000);
  cleaner_seen(current_block, (void *)0x1000, true);
  CHECK(is_cleaner_thread() && !cleaner_candidate(current_block));
}

CASE(a_thread_that_never_waits_for_references_is_no_cleaner) {
  start();
  thread_sampling(thread_block_acquire())->cleaner = 0x1000;
  for (int looks = 0; looks < 7; looks++) {
    CHECK(cleaner_candidate(current_block));
    cleaner_seen(current_block, (void *)0x1000, false);
  }
  CHECK(!cleaner_candidate(current_block) && !is_cleaner_thread());
}

/* ---- Concurrent threads -------------------------------------------------------------------------------- */

enum { CALLER = 0x1234, OBJECT = 0x1000000, OTHER_OBJECT = 0x2000000, BYTES = 48 };

static void another_allocates_there(void) {
  struct thread_block *own = current_block;
  begin_thread();
  allocate(CALLER, OTHER_OBJECT, BYTES);
  current_block = own;
}

static int two_that_meet_a_new_site_share_it(unsigned point) {
  start();
  interrupt_at(point, another_allocates_there);
  allocate(CALLER, OBJECT, BYTES);
  if (!was_interrupted()) return NOT_REACHED;
  uint32_t count = copy_sites(), with_frames = 0;
  CHECK(count >= 1 && count <= 2);
  for (uint32_t i = 0; i < count; i++) {
    with_frames += sites[i].frames;
    CHECK_EQUAL(sites[i].allocated.samples, sites[i].frames ? 2 : 0);
    CHECK(sites[i].allocated.bytes == (sites[i].frames ? 2 * BYTES : 0));
  }
  CHECK_EQUAL(with_frames, 1);
  CHECK_EQUAL(live_samples_count(), 2);
  CHECK(deallocate(OBJECT) && deallocate(OTHER_OBJECT));
  CHECK(!deallocate(OBJECT) && !deallocate(OTHER_OBJECT));
  return REACHED;
}

/* Computes the place in the hash table at which live_samples.c begins to look for an object. */
static unsigned place_of(uintptr_t address) { return (unsigned)((address >> 4) * 0x9e3779b97f4a7c15u >> 48); }

static uintptr_t next_at_the_same_place(uintptr_t object) {
  unsigned place = place_of(object);
  do object += 16;
  while (place_of(object) != place);
  return object;
}

static uintptr_t first_object, second_object;

static void another_allocates_at_the_same_place(void) {
  struct thread_block *own = current_block;
  begin_thread();
  allocate(CALLER, second_object, BYTES);
  current_block = own;
}

static int an_object_is_freed_while_another_takes_its_place(unsigned point) {
  start();
  first_object = OBJECT;
  second_object = next_at_the_same_place(OBJECT);
  allocate(CALLER, first_object, BYTES);
  interrupt_at(point, another_allocates_at_the_same_place);
  CHECK(deallocate(first_object));
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(!is_live_sample((const void *)first_object) && is_live_sample((const void *)second_object));
  CHECK_EQUAL(live_samples_count(), 1);
  CHECK_EQUAL(copy_sites(), 1);
  CHECK_EQUAL(sites[0].allocated.samples, 2);
  CHECK_EQUAL(sites[0].freed.samples, 1);
  CHECK(deallocate(second_object));
  return REACHED;
}

static void another_frees_the_second(void) { CHECK(deallocate(second_object)); }

static int two_at_the_same_place_are_freed_at_once(unsigned point) {
  start();
  second_object = OBJECT;
  first_object = next_at_the_same_place(OBJECT);
  allocate(CALLER, second_object, BYTES);
  allocate(CALLER, first_object, BYTES);
  interrupt_at(point, another_frees_the_second);
  CHECK(deallocate(first_object));
  if (!was_interrupted()) return NOT_REACHED;
  CHECK_EQUAL(live_samples_count(), 0);
  CHECK_EQUAL(copy_sites(), 1);
  CHECK_EQUAL(sites[0].freed.samples, 2);
  CHECK(!may_be_sampled((const void *)first_object) && !may_be_sampled((const void *)second_object));
  return REACHED;
}

/* ---- The filter: one bit for each hash, set while a sample with this hash is live ---------------------- */

/* The addresses that this function returns all have the same hash. */
static const void *object_of_hash(uintptr_t number) { return (const void *)(OBJECT + number * 16 * LIVE_HASHES); }

static bool insert(const void *object) {
  const struct live_sample sample = {.site = 1, .probability = 1, .bytes = BYTES};
  return live_sample_insert(object, &sample);
}

CASE(a_hash_is_marked_until_its_last_sample_goes) {
  enum { OBJECTS = 60 };
  start();
  CHECK(!may_be_sampled(object_of_hash(OBJECTS)));
  for (unsigned i = 0; i < OBJECTS; i++) CHECK(insert(object_of_hash(i)));
  CHECK(!may_be_sampled((const char *)object_of_hash(0) + 16) && !may_be_sampled((const char *)object_of_hash(0) - 16));
  for (unsigned i = 0; i < OBJECTS; i++) {
    CHECK(may_be_sampled(object_of_hash(OBJECTS)));
    CHECK(live_sample_remove(object_of_hash(i)).site == 1);
  }
  CHECK(!may_be_sampled(object_of_hash(OBJECTS)));
}

static bool second_is_there;

static void another_of_the_hash_comes(void) { second_is_there = insert(object_of_hash(1)); }

/* Inserts a sample while the only other sample with the same hash is being removed. If the insertion succeeds,
 * may_be_sampled() must return true. */
static int one_comes_while_the_last_of_its_hash_goes(unsigned point) {
  start();
  CHECK(insert(object_of_hash(0)));
  interrupt_at(point, another_of_the_hash_comes);
  CHECK(live_sample_remove(object_of_hash(0)).site == 1);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(may_be_sampled(object_of_hash(1)) == second_is_there);
  CHECK((live_sample_remove(object_of_hash(1)).site == 1) == second_is_there);
  CHECK(insert(object_of_hash(2)) && may_be_sampled(object_of_hash(2)));
  return REACHED;
}

static void another_of_the_hash_comes_and_goes(void) {
  CHECK(insert(object_of_hash(1)) && may_be_sampled(object_of_hash(1)));
  CHECK(live_sample_remove(object_of_hash(1)).site == 1);
}

static int one_comes_and_goes_while_the_first_of_its_hash_comes(unsigned point) {
  start();
  interrupt_at(point, another_of_the_hash_comes_and_goes);
  CHECK(insert(object_of_hash(0)));
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(may_be_sampled(object_of_hash(0)));
  CHECK(live_sample_remove(object_of_hash(0)).site == 1);
  CHECK(!may_be_sampled(object_of_hash(0)));
  return REACHED;
}

static const struct live_sample OLD = {1, 2, 0.5, BYTES, {3, 4}}, NEW = {5, 6, 0.25, 2 * BYTES, {7, 8}};

static void another_object_comes_to_the_address(void) {
  CHECK(live_sample_remove(object_of_hash(0)).site == OLD.site);
  CHECK(live_sample_insert(object_of_hash(0), &NEW));
}

static bool is_sample(const struct live_sample *one, const struct live_sample *other) {
  return memcmp(one, other, sizeof *one) == 0;
}

static int a_sample_is_replaced_while_it_is_read(unsigned point) {
  start();
  CHECK(live_sample_insert(object_of_hash(0), &OLD));
  interrupt_at(point, another_object_comes_to_the_address);
  struct live_sample read = live_sample_find(object_of_hash(0));
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(read.site == NO_SITE || is_sample(&read, &OLD) || is_sample(&read, &NEW));
  read = live_sample_find(object_of_hash(0));
  CHECK(is_sample(&read, &NEW));
  return REACHED;
}

static void another_object_takes_the_entry(void) {
  CHECK(live_sample_remove((const void *)first_object).site == OLD.site);
  CHECK(live_sample_insert((const void *)second_object, &NEW));
}

static int an_entry_is_taken_by_another_object_while_it_is_read(unsigned point) {
  start();
  first_object = OBJECT;
  second_object = next_at_the_same_place(OBJECT);
  CHECK(live_sample_insert((const void *)first_object, &OLD));
  interrupt_at(point, another_object_takes_the_entry);
  struct live_sample read = live_sample_find((const void *)first_object);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(read.site == NO_SITE || is_sample(&read, &OLD));
  return REACHED;
}

enum { TIMES = 20000 };

/* Repeats each insertion that fails because another thread is removing a sample. */
static void *inserts_and_removes(void *number) {
  const void *object = object_of_hash((uintptr_t)number);
  for (unsigned inserted = 0; inserted < TIMES;) {
    if (!insert(object)) continue;
    CHECK(may_be_sampled(object));
    CHECK(live_sample_remove(object).site == 1);
    inserted++;
  }
  return NULL;
}

CASE(threads_find_their_samples_of_one_hash) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  start();
  for (uintptr_t i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, inserts_and_removes, (void *)(i + 1)) == 0);
  }
  for (unsigned i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
  }
  CHECK(!may_be_sampled(object_of_hash(0)));
}

/* ---- Full tables --------------------------------------------------------------------------------------- */

/* Allocates and frees an object. The object must be a live sample in between, unless the table has no room for its
 * call site. */
static void allocate_and_free(uintptr_t caller) {
  uint64_t before = call_sites_totals().without_site;
  allocate(caller, OBJECT, BYTES);
  CHECK(deallocate(OBJECT) == (call_sites_totals().without_site == before));
}

CASE(samples_without_room_for_a_site_are_counted) {
  enum { CALLERS = 2 * MOST_SITES };
  start();
  for (uintptr_t i = 0; i < CALLERS; i++) allocate_and_free(0x10000 + 64 * i);
  CHECK_EQUAL(call_sites_totals().sites, MOST_SITES);
  CHECK_EQUAL(call_sites_totals().without_site, CALLERS - MOST_SITES);
  CHECK_EQUAL(given_announced, CALLERS);
  CHECK_EQUAL(given_announced_free, CALLERS);
  allocate(0x10000, OBJECT, BYTES);
  CHECK(deallocate(OBJECT));
  CHECK_EQUAL(copy_sites(), MOST_SITES);
  CHECK_EQUAL(sites[0].allocated.samples, 2);
  CHECK_EQUAL(sites[0].freed.samples, 2);
}

/* ---- Sites that are forgotten -------------------------------------------------------------------------- */

enum { THREE_QUARTERS = MOST_SITES / 4 * 3, SECOND = 1000000000, YOUNG_CALLER = 0x2345 };

static const struct mallometer_site *row_with(uint32_t number) {
  uint32_t count = copy_sites();
  for (uint32_t i = 0; i < count; i++) {
    if (sites[i].number == number && sites[i].allocated.samples > 0) return &sites[i];
  }
  return NULL;
}

static uint32_t site_of_live(uintptr_t object) { return live_sample_find((const void *)object).site; }

/* Allocates from new call stacks all the time. The library must forget old call sites in time, so that the table has
 * room for every new one. */
CASE(ever_new_stacks_find_room) {
  enum { ROUNDS = 40, CALLERS = MOST_SITES / 4 };
  start();
  uint32_t most = 0;
  for (uintptr_t i = 0; i < ROUNDS * CALLERS; i++) {
    allocate_and_free(0x10000 + 64 * i);
    if (i % CALLERS) continue;
    given_monotonic_ns += (uint64_t)20 * SECOND;
    call_sites_make_room();
    if (call_sites_totals().sites > most) most = call_sites_totals().sites;
  }
  CHECK_EQUAL(call_sites_totals().without_site, 0);
  CHECK(most <= MOST_SITES / 2 + CALLERS);
}

CASE(the_stalest_sites_give_way) {
  enum { OLD = 5000, ALL = 9000, FORGOTTEN = MOST_SITES / 4 };
  start();
  allocate(CALLER, OTHER_OBJECT, BYTES);
  for (uintptr_t i = 0; i < OLD; i++) allocate_and_free(0x10000 + 64 * i);
  given_monotonic_ns += (uint64_t)60 * SECOND;
  for (uintptr_t i = OLD; i < ALL; i++) allocate_and_free(0x10000 + 64 * i);
  given_monotonic_ns += (uint64_t)11 * SECOND;
  allocate_and_free(0x10000);
  uint32_t before = call_sites_totals().sites;
  call_sites_make_room();
  CHECK_EQUAL(call_sites_totals().sites, before - FORGOTTEN);
  copy_sites();
  /* The 4,096 sites whose latest sample is oldest must be forgotten. Site 0 must stay because it has a live sample,
   * and site 1 because it was sampled again. */
  for (uint32_t number = 0; number <= ALL; number++) {
    bool stays = number < 2 || number >= 2 + FORGOTTEN;
    CHECK_EQUAL(sites[number].number, stays ? number : number + MOST_SITES);
    CHECK_EQUAL(sites[number].allocated.samples > 0, stays);
  }
  CHECK_EQUAL(site_of_live(OTHER_OBJECT), 0);
  CHECK(row_with(0)->allocated.samples == 1 && row_with(0)->freed.samples == 0);
  CHECK(row_with(1)->allocated.samples == 2);
  CHECK(!row_with(2));
  uint64_t frame;
  CHECK_EQUAL(call_site_stack(2, &frame, 1), -1);
  CHECK_EQUAL(call_site_stack(1, &frame, 1), 1);
  CHECK_EQUAL(frame, 0x10000);
}

CASE(a_site_in_the_place_of_another_has_a_number_of_its_own) {
  start();
  for (uintptr_t i = 0; i < MOST_SITES; i++) allocate_and_free(0x10000 + 64 * i);
  given_monotonic_ns += (uint64_t)11 * SECOND;
  call_sites_make_room();
  allocate(CALLER, OBJECT, BYTES);
  uint32_t number = site_of_live(OBJECT);
  CHECK(number >= MOST_SITES && number < 2 * MOST_SITES);
  CHECK(row_with(number)->allocated.samples == 1);
  CHECK(row_with(number)->freed.samples == 0);
  CHECK(row_with(number)->allocated.bytes == BYTES);
  uint64_t frame;
  CHECK_EQUAL(call_site_stack(number, &frame, 1), 1);
  CHECK_EQUAL(frame, CALLER);
  CHECK_EQUAL(call_site_stack(number % MOST_SITES, &frame, 1), -1);
  CHECK(deallocate(OBJECT));
  CHECK(row_with(number)->freed.samples == 1);
  allocate(CALLER, OBJECT, BYTES);
  CHECK_EQUAL(site_of_live(OBJECT), number);
}

CASE(nothing_is_forgotten_while_there_is_room) {
  start();
  for (uintptr_t i = 0; i < MOST_SITES / 2 - 1; i++) allocate_and_free(0x10000 + 64 * i);
  given_monotonic_ns += (uint64_t)3600 * SECOND;
  call_sites_make_room();
  CHECK_EQUAL(call_sites_totals().sites, MOST_SITES / 2 - 1);
}

CASE(young_sites_are_not_forgotten) {
  start();
  for (uintptr_t i = 0; i < MOST_SITES; i++) allocate_and_free(0x10000 + 64 * i);
  given_monotonic_ns += (uint64_t)9 * SECOND;
  call_sites_make_room();
  CHECK_EQUAL(call_sites_totals().sites, MOST_SITES);
}

CASE(reports_in_a_row_look_for_stale_sites_once_a_second) {
  start();
  for (uintptr_t i = 0; i < MOST_SITES; i++) allocate_and_free(0x10000 + 64 * i);
  given_monotonic_ns += (uint64_t)20 * SECOND;
  call_sites_make_room();
  CHECK_EQUAL(call_sites_totals().sites, MOST_SITES / 4 * 3);
  call_sites_make_room();
  CHECK_EQUAL(call_sites_totals().sites, MOST_SITES / 4 * 3);
  given_monotonic_ns += (uint64_t)2 * SECOND;
  call_sites_make_room();
  CHECK_EQUAL(call_sites_totals().sites, MOST_SITES / 2);
}

static void another_forgets_sites(void) {
  given_monotonic_ns += (uint64_t)20 * SECOND;
  call_sites_make_room();
}

static int a_site_is_sampled_while_it_is_forgotten(unsigned point) {
  interrupt_at(point, another_forgets_sites);
  allocate(CALLER, OBJECT, BYTES);
  if (!was_interrupted()) return NOT_REACHED;
  for (unsigned i = 0; i < 2; i++) {
    uint32_t number = site_of_live(OBJECT);
    CHECK(number != NO_SITE);
    const struct mallometer_site *row = row_with(number);
    CHECK(row && row->allocated.samples == row->freed.samples + 1);
    uint64_t frame;
    CHECK_EQUAL(call_site_stack(number, &frame, 1), 1);
    CHECK_EQUAL(frame, CALLER);
    another_forgets_sites(); /* must not forget this site, because it has a live sample */
  }
  uint32_t number = site_of_live(OBJECT);
  CHECK(deallocate(OBJECT));
  CHECK(row_with(number)->allocated.samples == row_with(number)->freed.samples);
  CHECK_EQUAL(call_sites_totals().without_site, 0);
  return REACHED;
}

static void another_allocates_and_frees_there(void) {
  struct thread_block *own = current_block;
  begin_thread();
  allocate(CALLER, OTHER_OBJECT, BYTES);
  current_block = own;
}

static int a_sample_comes_while_its_site_is_forgotten(unsigned point) {
  given_monotonic_ns += (uint64_t)20 * SECOND;
  interrupt_at(point * point * point, another_allocates_and_frees_there);
  call_sites_make_room();
  if (!was_interrupted()) return NOT_REACHED;
  uint32_t number = site_of_live(OTHER_OBJECT);
  CHECK(number != NO_SITE);
  CHECK(row_with(number)->allocated.samples == row_with(number)->freed.samples + 1);
  uint64_t frame;
  CHECK_EQUAL(call_site_stack(number, &frame, 1), 1);
  CHECK_EQUAL(frame, CALLER);
  CHECK(deallocate(OTHER_OBJECT));
  return REACHED;
}

static void a_second_passes_and_another_samples(void) {
  given_monotonic_ns += SECOND;
  struct thread_block *own = current_block;
  begin_thread();
  allocate_and_free(YOUNG_CALLER);
  current_block = own;
}

static int a_young_site_is_sampled_while_others_are_forgotten(unsigned point) {
  given_monotonic_ns += (uint64_t)20 * SECOND;
  allocate(YOUNG_CALLER, OBJECT, BYTES);
  uint32_t number = site_of_live(OBJECT);
  CHECK(deallocate(OBJECT));
  interrupt_at(point * point * point, a_second_passes_and_another_samples);
  call_sites_make_room();
  if (!was_interrupted()) return NOT_REACHED;
  const struct mallometer_site *row = row_with(number);
  CHECK(row && row->allocated.samples == 2);
  return REACHED;
}

/* Fills the table once: each point is reached in a child of this process. */
CASE(sites_are_sampled_while_sites_are_forgotten) {
  start();
  allocate_and_free(CALLER);
  for (uintptr_t i = 0; i < THREE_QUARTERS; i++) allocate_and_free(0x10000 + 64 * i);
  CHECK(at_each_point(a_site_is_sampled_while_it_is_forgotten) > 20);
  CHECK(at_each_point(a_sample_comes_while_its_site_is_forgotten) > 30);
  CHECK(at_each_point(a_young_site_is_sampled_while_others_are_forgotten) > 30);
}

/* ---- Threads that sample while sites are forgotten ----------------------------------------------------- */

enum { SAMPLING = 4, SAMPLES = 60000, HELD = 8 };

static bool all_ended;

/* Samples allocations. A quarter of the allocations come from 16 callers that all threads share, and the others from
 * new callers. The latest 8 objects stay live. */
static void *samples_ever_new_callers(void *number) {
  uintptr_t own = (uintptr_t)number, object = 0x10000000 * own;
  begin_thread();
  for (uintptr_t i = 0; i < SAMPLES; i++) {
    uintptr_t caller = i % 4 == 0 ? 0x5000 + 64 * (i % 64) : 0x100000000 * own + 64 * i;
    uintptr_t place = object + 4096 * (i % HELD) + 16;
    if (i >= HELD) deallocate(place);
    allocate(caller, place, BYTES);
    struct live_sample sample = live_sample_find((const void *)place);
    if (sample.site == NO_SITE) continue;
    uint64_t frame;
    CHECK(call_site_stack(sample.site, &frame, 1) <= 0 || frame == caller);
    CHECK(call_site_stack(sample.site, &frame, 1) != -1);
  }
  for (uintptr_t i = 0; i < HELD; i++) deallocate(object + 4096 * i + 16);
  return NULL;
}

static void *forgets_sites(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&all_ended, __ATOMIC_ACQUIRE)) {
    __atomic_fetch_add(&given_monotonic_ns, (uint64_t)20 * SECOND, __ATOMIC_RELAXED);
    call_sites_make_room();
  }
  return NULL;
}

CASE(threads_sample_while_sites_are_forgotten) {
  pthread_t threads[SAMPLING], forgetting;
  start();
  for (uintptr_t i = 0; i < THREE_QUARTERS; i++) allocate_and_free(0x10000 + 64 * i);
  CHECK(pthread_create(&forgetting, NULL, forgets_sites, NULL) == 0);
  for (uintptr_t i = 0; i < SAMPLING; i++) {
    CHECK(pthread_create(&threads[i], NULL, samples_ever_new_callers, (void *)(i + 1)) == 0);
  }
  for (unsigned i = 0; i < SAMPLING; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  __atomic_store_n(&all_ended, true, __ATOMIC_RELEASE);
  CHECK(pthread_join(forgetting, NULL) == 0);
  CHECK_EQUAL(live_samples_count(), 0);
  uint32_t count = copy_sites();
  for (uint32_t i = 0; i < count; i++) CHECK_EQUAL(sites[i].allocated.samples, sites[i].freed.samples);
  given_monotonic_ns += (uint64_t)20 * SECOND;
  for (uintptr_t i = 0; call_sites_totals().sites < THREE_QUARTERS; i++) allocate_and_free(0x900000000 + 64 * i);
  given_monotonic_ns += (uint64_t)20 * SECOND;
  uint32_t before = call_sites_totals().sites;
  call_sites_make_room();
  CHECK(call_sites_totals().sites <= before - MOST_SITES / 4);
}

CASE(samples_without_a_place_count_as_freed) {
  enum { PLACES = 64, MORE = 5 };
  start();
  uintptr_t object = OBJECT;
  for (unsigned i = 0; i < PLACES + MORE; i++, object = next_at_the_same_place(object)) allocate(CALLER, object, BYTES);
  CHECK_EQUAL(live_samples_count(), PLACES);
  CHECK_EQUAL(call_sites_totals().without_place, MORE);
  CHECK_EQUAL(copy_sites(), 1);
  CHECK_EQUAL(sites[0].allocated.samples, PLACES + MORE);
  CHECK_EQUAL(sites[0].freed.samples, MORE);
  CHECK(sites[0].allocated.bytes - sites[0].freed.bytes == PLACES * BYTES);
  CHECK_EQUAL(given_announced, PLACES + MORE);
  CHECK_EQUAL(given_announced_free, MORE);
  object = OBJECT;
  for (unsigned i = 0; i < PLACES + MORE; i++, object = next_at_the_same_place(object)) {
    CHECK(deallocate(object) == (i < PLACES));
  }
  CHECK_EQUAL(live_samples_count(), 0);
  CHECK_EQUAL(given_announced_free, PLACES + MORE);
}

CASE(an_object_freed_past_us_is_freed_when_its_address_comes_again) {
  start();
  allocate(CALLER, OBJECT, BYTES);
  allocate(CALLER, OBJECT, 2 * BYTES);
  CHECK_EQUAL(live_samples_count(), 1);
  CHECK_EQUAL(call_sites_totals().without_place, 1);
  CHECK_EQUAL(copy_sites(), 1);
  CHECK(sites[0].allocated.bytes - sites[0].freed.bytes == 2 * BYTES);
  CHECK_EQUAL(given_announced, 2);
  CHECK_EQUAL(given_announced_free, 1);
}

/* ---- Probes: announcements of samples to other profilers ----------------------------------------------- */

static void take_with(double probability, size_t requested, size_t bytes) {
  struct sample sample = {.block = thread_block_acquire(),
                          .object = (void *)OBJECT,
                          .requested = requested,
                          .bytes = bytes,
                          .origin = {(const void *)CALLER, stack + sizeof stack - 64},
                          .probability = probability};
  call_sites_record(&sample);
}

CASE(a_sample_is_announced_with_the_requested_bytes_that_it_stands_for) {
  start();
  take_with(0.03, 100, 104);
  CHECK_EQUAL(given_announced, 1);
  CHECK(given_announced_object == (const void *)OBJECT);
  CHECK_EQUAL(given_announced_size, 100);
  CHECK_EQUAL(given_announced_weight, 3333);
  CHECK(deallocate(OBJECT));
  take_with(2.0 / 3, 11, 24); /* the weight 16.5 is rounded to 17 */
  CHECK_EQUAL(given_announced_weight, 17);
}

/* Profilers divide by the requested size of a sample, so a sample of 0 bytes must not be announced. */
CASE(a_request_of_no_bytes_is_not_announced) {
  start();
  take_with(0.5, 0, 24);
  CHECK_EQUAL(given_announced, 0);
  CHECK_EQUAL(live_samples_count(), 1);
}

static void *elsewhere(const struct sample *sample, const struct live_sample *live) {
  (void)sample, (void)live;
  return (void *)OTHER_OBJECT;
}

CASE(a_moved_sample_is_announced_where_the_program_finds_it) {
  start();
  call_sites_set_mover(elsewhere);
  struct sample sample = {.block = thread_block_acquire(),
                          .object = (void *)OBJECT,
                          .requested = BYTES,
                          .bytes = BYTES,
                          .move = {16, 0},
                          .origin = {(const void *)CALLER, stack + sizeof stack - 64},
                          .probability = 1};
  CHECK(call_sites_record(&sample) == (void *)OTHER_OBJECT);
  CHECK(given_announced_object == (const void *)OTHER_OBJECT);
  CHECK_EQUAL(given_announced, 1);
  CHECK_EQUAL(given_announced_free, 0);
}

CASE(what_is_put_back_is_announced_again_and_freed_once_more) {
  start();
  take_with(0.03, 100, 104);
  struct live_sample sample = live_sample_remove((void *)OBJECT);
  CHECK_EQUAL(given_announced_free, 1);
  call_sites_put_back((void *)OBJECT, sample);
  CHECK_EQUAL(given_announced, 2);
  CHECK(given_announced_object == (const void *)OBJECT);
  CHECK_EQUAL(given_announced_size, 104);
  CHECK_EQUAL(given_announced_weight, 3467);
  CHECK_EQUAL(given_announced_free, 1);
  CHECK(deallocate(OBJECT));
  CHECK_EQUAL(given_announced_free, 2);
  call_sites_put_back((void *)OBJECT, NO_LIVE_SAMPLE);
  CHECK_EQUAL(given_announced, 2);
}

CASE(what_is_forgotten_is_announced_as_freed) {
  start();
  allocate(CALLER, OBJECT, BYTES);
  allocate(CALLER, OTHER_OBJECT, BYTES);
  call_sites_forget();
  CHECK_EQUAL(given_announced_free, 2);
}

/* ---- Frames of stacks, and times of samples ------------------------------------------------------------ */

/* Writes `count` frames to the stack as code with frame pointers does. Returns the innermost frame pointer. */
static uintptr_t frames_on_stack(unsigned count) {
  uintptr_t *frame = (uintptr_t *)(void *)(stack + sizeof stack) - 2 * count - 2;
  uintptr_t first = (uintptr_t)frame;
  for (unsigned i = 0; i < count; i++, frame += 2) {
    frame[0] = i + 1 < count ? (uintptr_t)(frame + 2) : 0;
    frame[1] = 0x5000 + i;
  }
  return first;
}

static uint32_t frames_of_stack_of(unsigned count) {
  start();
  given_frame_pointer = frames_on_stack(count);
  struct origin origin = {(const void *)CALLER, (const void *)(given_frame_pointer - 64)};
  sampler_visit(thread_block_acquire(), (void *)OBJECT, BYTES, BYTES, (struct move){0}, origin);
  CHECK_EQUAL(copy_sites(), 1);
  uint64_t frames[256];
  CHECK_EQUAL(call_site_stack(0, frames, 256), sites[0].frames);
  CHECK_EQUAL(frames[0], CALLER);
  for (unsigned i = 1; i < sites[0].frames; i++) CHECK_EQUAL(frames[i], 0x5000 + i - 1);
  return sites[0].frames;
}

CASE(a_stack_is_kept_whole) {
  CHECK_EQUAL(frames_of_stack_of(40), 41);
  CHECK_EQUAL(call_sites_totals().truncated, 0);
}

CASE(a_deep_stack_is_cut_and_counted) {
  CHECK_EQUAL(frames_of_stack_of(200), 128);
  CHECK_EQUAL(call_sites_totals().truncated, 1);
}

CASE(a_stack_without_room_has_no_frames) {
  start();
  struct origin origin = {(const void *)CALLER, stack + ROOM_FOR_NATIVE_STACK - 1};
  sampler_visit(thread_block_acquire(), (void *)OBJECT, BYTES, BYTES, (struct move){0}, origin);
  CHECK_EQUAL(call_sites_totals().without_stack, 1);
  CHECK_EQUAL(copy_sites(), 1);
  CHECK_EQUAL(sites[0].frames, 0);
  origin.stack = stack + ROOM_FOR_NATIVE_STACK;
  sampler_visit(thread_block_acquire(), (void *)OTHER_OBJECT, BYTES, BYTES, (struct move){0}, origin);
  CHECK_EQUAL(call_sites_totals().without_stack, 1);
  CHECK_EQUAL(copy_sites(), 2);
  CHECK_EQUAL(sites[1].frames, 1);
}

static void allocate_deep(uintptr_t caller) {
  given_frame_pointer = frames_on_stack(40);
  struct origin origin = {(const void *)caller, (const void *)(given_frame_pointer - 64)};
  sampler_visit(thread_block_acquire(), (void *)OBJECT, BYTES, BYTES, (struct move){0}, origin);
  CHECK(deallocate(OBJECT));
  given_frame_pointer = 0;
}

static void fill_up_to(uint32_t count) {
  static uintptr_t caller = 0x100000;
  while (call_sites_totals().sites < count) allocate_and_free(caller += 64);
}

/* When the table of sites fills up, new stacks are cut to fewer frames. A stack that has a site must keep its frames,
 * because otherwise it would get a second site. */
CASE(a_stack_stays_with_its_site_when_room_gets_scarce) {
  enum { FIRST = 0x1234, SECOND = 0x2345, THIRD = 0x3456 };
  start();
  allocate_deep(FIRST);
  fill_up_to(MOST_SITES / 2);
  allocate_deep(FIRST);
  allocate_deep(SECOND);
  fill_up_to(MOST_SITES / 4 * 3);
  for (unsigned i = 0; i < 2; i++) {
    allocate_deep(FIRST);
    allocate_deep(SECOND);
    allocate_deep(THIRD);
  }
  CHECK_EQUAL(copy_sites(), MOST_SITES / 4 * 3 + 1);
  CHECK_EQUAL(sites[0].frames, 41);
  CHECK_EQUAL(sites[0].allocated.samples, 4);
  CHECK_EQUAL(sites[MOST_SITES / 2].frames, 8);
  CHECK_EQUAL(sites[MOST_SITES / 2].allocated.samples, 3);
  CHECK_EQUAL(sites[MOST_SITES / 4 * 3].frames, 7);
  CHECK_EQUAL(sites[MOST_SITES / 4 * 3].allocated.samples, 2);
  CHECK_EQUAL(call_sites_totals().truncated, 5);
}

static uint64_t birth_at(uint64_t now, uintptr_t object) {
  static struct mallometer_object rows[8];
  given_monotonic_ns = now;
  allocate(CALLER, object, BYTES);
  CHECK_EQUAL(live_samples_copy(rows, 8, 0, NULL), 1);
  CHECK(deallocate(object));
  return rows[0].born_ns;
}

/* Times of allocations are multiples of 2^24 ns (16.8 ms), even two years after the start. */
CASE(births_are_told_by_the_given_clock) {
  const uint64_t unit = (uint64_t)1 << 24, year = UINT64_C(31536000000000000);
  start();
  CHECK_EQUAL(birth_at(0, OBJECT), 0);
  CHECK_EQUAL(birth_at(unit - 1, OBJECT), 0);
  CHECK_EQUAL(birth_at(unit, OBJECT), unit);
  CHECK_EQUAL(birth_at(2 * year, OBJECT), 2 * year / unit * unit);
  CHECK_EQUAL(birth_at(5 * unit + 7, OBJECT), 5 * unit);
}

/* ---- The gate to Java (sample/java_gate.h): while it is open, samples have Java frames ----------------- */

enum { JAVA_FRAMES = 3 };
static const uint64_t java_frames[JAVA_FRAMES] = {JAVA_FRAME | 71, JAVA_FRAME | 72, JAVA_FRAME | 73};

static void *java_thread(void) { return stack; }

static int walk_java(void *thread, const struct registers *caller, uint64_t *frames, uint32_t capacity) {
  (void)thread, (void)caller, (void)capacity;
  memcpy(frames, java_frames, sizeof java_frames);
  allocate(CALLER, OTHER_OBJECT, BYTES); /* must not walk the stack, because a walk is in progress */
  return JAVA_FRAMES;
}

/* The frame that note() adds before the Java frames; 0 adds none. */
static uint64_t noted;

static uint64_t note(const struct registers *caller, uint64_t outermost) {
  (void)caller;
  CHECK_EQUAL(outermost, CALLER);
  return noted;
}

static const struct java_stacks java = {java_thread, walk_java, note, 0, 0};

static void the_gate_closes(void) { java_gate_close(); }

/* Closes the gate to Java (sample/java_gate.h) during a sample, as happens when the JVM shuts down. */
static int a_sample_has_java_frames_or_none(unsigned point) {
  start();
  java_gate_open(&java);
  interrupt_at(point, the_gate_closes);
  allocate(CALLER, OBJECT, BYTES);
  bool closed = was_interrupted();
  CHECK(closed == !java_gate_is_open());
  CHECK(copy_sites() >= 1);
  uint64_t frames[8];
  CHECK(call_site_stack(0, frames, 8) == 1);
  CHECK_EQUAL(frames[0], CALLER);
  if (copy_sites() == 2) {
    CHECK_EQUAL(call_site_stack(1, frames, 8), 1 + JAVA_FRAMES);
    CHECK(memcmp(frames + 1, java_frames, sizeof java_frames) == 0);
  }
  CHECK(closed || copy_sites() == 2);
  CHECK_EQUAL(current_block->walks_java, 0);
  return closed ? REACHED : NOT_REACHED;
}

CASE(a_call_of_compiled_code_is_noted_before_its_frames) {
  uint64_t frames[8];
  start();
  java_gate_open(&java);
  noted = JAVA_FRAME | (uint64_t)1 << 62 | 5;
  allocate(CALLER, OBJECT, BYTES);
  noted = 0;
  CHECK_EQUAL(copy_sites(), 2);
  CHECK_EQUAL(call_site_stack(1, frames, 8), 2 + JAVA_FRAMES);
  CHECK_EQUAL(frames[1], JAVA_FRAME | (uint64_t)1 << 62 | 5);
  CHECK(memcmp(frames + 2, java_frames, sizeof java_frames) == 0);
}

/* Addresses from OF_JVM to 0x6000 are code of the JVM. */
enum { DEEP_IN_JAVA = 20, OF_JVM = 0x4000, OF_PROGRAM = 0x1234 };

static int walk_deep(void *thread, const struct registers *caller, uint64_t *frames, uint32_t capacity) {
  (void)thread, (void)caller, (void)capacity;
  for (unsigned i = 0; i < DEEP_IN_JAVA; i++) frames[i] = JAVA_FRAME | (uint64_t)(100 + i) << 16;
  return DEEP_IN_JAVA;
}

static uint64_t no_note(const struct registers *caller, uint64_t outermost) {
  (void)caller, (void)outermost;
  return 0;
}

static const struct java_stacks deep_java = {java_thread, walk_deep, no_note, OF_JVM, 0x6000};

static uint32_t frames_of_new_site(uintptr_t caller) {
  uint32_t before = call_sites_totals().sites;
  java_gate_open(&deep_java);
  allocate_deep(caller);
  java_gate_close();
  CHECK_EQUAL(call_sites_totals().sites, before + 1);
  copy_sites();
  return sites[before].frames;
}

/* While every allocation is sampled, class loading in the JVM adds many stacks. Once half of the table of call sites
 * is full, the library must cut new stacks of the JVM, but not those of the program. */
CASE(the_jvm_takes_no_room_of_the_programs_stacks) {
  enum { NATIVE = 41, WHOLE = NATIVE + DEEP_IN_JAVA };
  start();
  CHECK_EQUAL(frames_of_new_site(OF_JVM + 1), WHOLE);
  fill_up_to(MOST_SITES / 2);
  CHECK_EQUAL(frames_of_new_site(OF_JVM + 2), NATIVE + 8);
  CHECK_EQUAL(frames_of_new_site(OF_PROGRAM + 2), WHOLE);
  fill_up_to(MOST_SITES / 4 * 3);
  CHECK_EQUAL(frames_of_new_site(OF_JVM + 3), 7);
  CHECK_EQUAL(frames_of_new_site(OF_PROGRAM + 3), WHOLE);
  uint32_t count = call_sites_totals().sites;
  java_gate_open(&deep_java);
  for (uintptr_t i = 1; i <= 3; i++) allocate_deep(OF_JVM + i);
  java_gate_close();
  CHECK_EQUAL(copy_sites(), count);
  CHECK_EQUAL(sites[0].allocated.samples, 2);
  CHECK_EQUAL(sites[MOST_SITES / 2].allocated.samples, 2);
}

/* Records a sample as the sampler does when it samples only some of the allocations. The sample has a new stack.
 * Returns the number of frames that the library keeps. */
static uint32_t frames_at_usual_interval(uintptr_t caller) {
  uint32_t before = call_sites_totals().sites;
  given_frame_pointer = frames_on_stack(40);
  struct sample sample = {.block = thread_block_acquire(),
                          .object = (void *)OBJECT,
                          .requested = BYTES,
                          .bytes = BYTES,
                          .origin = {(const void *)caller, (const void *)(given_frame_pointer - 64)},
                          .probability = 1};
  java_gate_open(&deep_java);
  call_sites_record(&sample);
  java_gate_close();
  CHECK(deallocate(OBJECT));
  given_frame_pointer = 0;
  CHECK_EQUAL(call_sites_totals().sites, before + 1);
  copy_sites();
  return sites[before].frames;
}

/* Once three quarters of the table of call sites are taken, new stacks of the JVM's own code must be shortened to
 * seven frames. The rest of the table is left to stacks of the program. */
CASE(the_jvm_leaves_the_last_quarter_to_the_program_at_any_interval) {
  enum { WHOLE = 41 + DEEP_IN_JAVA };
  start();
  fill_up_to(MOST_SITES / 2);
  CHECK_EQUAL(frames_at_usual_interval(OF_JVM + 1), WHOLE);
  fill_up_to(MOST_SITES / 4 * 3);
  CHECK_EQUAL(frames_at_usual_interval(OF_JVM + 2), 7);
  CHECK_EQUAL(frames_at_usual_interval(OF_PROGRAM + 2), WHOLE);
}

/* Six frames of HotSpot (JDK 17 and 25) lie between the allocation of a JNI global reference and the library that
 * creates it. A stack that is cut must still contain the library's frame. */
CASE(a_library_that_makes_jni_references_is_always_among_the_frames) {
  enum { LIBRARY = 0x7000, OF_HOTSPOT = 6 };
  uint64_t frames[8];
  start();
  fill_up_to(MOST_SITES / 4 * 3);
  for (unsigned i = 0; i < 2; i++) {
    uint32_t site = call_sites_totals().sites;
    given_frame_pointer = frames_on_stack(40);
    ((uintptr_t *)given_frame_pointer)[2 * (OF_HOTSPOT - 1) + 1] = LIBRARY + i;
    struct origin origin = {(const void *)(OF_JVM + 1), (const void *)(given_frame_pointer - 64)};
    java_gate_open(&deep_java);
    sampler_visit(thread_block_acquire(), (void *)OBJECT, BYTES, BYTES, (struct move){0}, origin);
    java_gate_close();
    given_frame_pointer = 0;
    CHECK(deallocate(OBJECT));
    CHECK_EQUAL(call_sites_totals().sites, site + 1);
    CHECK_EQUAL(call_site_stack(site, frames, 8), OF_HOTSPOT + 1);
    CHECK_EQUAL(frames[OF_HOTSPOT], LIBRARY + i);
  }
}

static unsigned moments, moments_behind;

static void a_moment_behind(void) {
  if (++moments == moments_behind) java_gate_leave(current_block);
}

static void close_with_somebody_behind(unsigned moments_until_it_leaves) {
  const struct java_stacks *stacks;
  start();
  java_gate_open(&java);
  CHECK(java_gate_enter(current_block, &stacks) && stacks == &java);
  moments_behind = moments_until_it_leaves;
  given_while_waiting = a_moment_behind;
  java_gate_close_and_wait();
}

CASE(a_gate_that_closes_waits_for_who_is_behind_it) {
  close_with_somebody_behind(3);
  CHECK_EQUAL(moments, 3);
  CHECK_EQUAL(given_monotonic_ns, 300000);
}

CASE(a_gate_that_closes_waits_no_longer_than_it_should) {
  close_with_somebody_behind(0);
  CHECK_EQUAL(given_monotonic_ns, 100000000);
}

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  CHECK_EQUAL(at_each_point(without_memory_nothing_is_recorded_until_there_is_some), 1);
  CHECK(at_each_point(two_that_start_at_once_reserve_once) >= 1);
  RUN(samples_without_room_for_a_site_are_counted);
  RUN(samples_without_a_place_count_as_freed);
  if (argc > 1) return 0; /* The other tests do not depend on the size of pages. */
  RUN(frees_are_told_by_the_collections_before_them);
  RUN(frees_by_other_threads_are_told_once_a_cleaner_frees_of_the_site);
  RUN(a_candidate_is_told_by_its_handle);
  RUN(a_thread_that_never_waits_for_references_is_no_cleaner);
  CHECK(at_each_point(two_that_meet_a_new_site_share_it) > 20);
  CHECK(at_each_point(an_object_is_freed_while_another_takes_its_place) > 5);
  CHECK(at_each_point(two_at_the_same_place_are_freed_at_once) > 5);
  RUN(a_hash_is_marked_until_its_last_sample_goes);
  CHECK(at_each_point(one_comes_while_the_last_of_its_hash_goes) > 5);
  CHECK(at_each_point(one_comes_and_goes_while_the_first_of_its_hash_comes) > 5);
  CHECK(at_each_point(a_sample_is_replaced_while_it_is_read) > 8);
  CHECK(at_each_point(an_entry_is_taken_by_another_object_while_it_is_read) > 8);
  RUN(threads_find_their_samples_of_one_hash);
  RUN(ever_new_stacks_find_room);
  RUN(the_stalest_sites_give_way);
  RUN(a_site_in_the_place_of_another_has_a_number_of_its_own);
  RUN(nothing_is_forgotten_while_there_is_room);
  RUN(young_sites_are_not_forgotten);
  RUN(reports_in_a_row_look_for_stale_sites_once_a_second);
  RUN(sites_are_sampled_while_sites_are_forgotten);
  RUN(threads_sample_while_sites_are_forgotten);
  RUN(an_object_freed_past_us_is_freed_when_its_address_comes_again);
  RUN(a_sample_is_announced_with_the_requested_bytes_that_it_stands_for);
  RUN(a_request_of_no_bytes_is_not_announced);
  RUN(a_moved_sample_is_announced_where_the_program_finds_it);
  RUN(what_is_put_back_is_announced_again_and_freed_once_more);
  RUN(what_is_forgotten_is_announced_as_freed);
  RUN(a_stack_is_kept_whole);
  RUN(a_deep_stack_is_cut_and_counted);
  RUN(a_stack_without_room_has_no_frames);
  RUN(a_stack_stays_with_its_site_when_room_gets_scarce);
  RUN(births_are_told_by_the_given_clock);
  CHECK(at_each_point(a_sample_has_java_frames_or_none) > 5);
  RUN(a_call_of_compiled_code_is_noted_before_its_frames);
  RUN(the_jvm_takes_no_room_of_the_programs_stacks);
  RUN(the_jvm_leaves_the_last_quarter_to_the_program_at_any_interval);
  RUN(a_library_that_makes_jni_references_is_always_among_the_frames);
  RUN(a_gate_that_closes_waits_for_who_is_behind_it);
  RUN(a_gate_that_closes_waits_no_longer_than_it_should);
  return 0;
}
