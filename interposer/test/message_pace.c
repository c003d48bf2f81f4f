/*
 * Tests when the recording's thread writes and empties the file of the termination message, which describes scarce
 * memory and fast rises of memory. The test sets the clock, the memory and the rise, and receives the messages.
 */
#include "../src/control/recording.c"
#include "check.h"

#define MIB ((uint64_t)1 << 20)
#define MS UINT64_C(1000000)

static uint64_t now_ns = SECOND;
static bool is_on = true, goes_on_rising = true, counts = true;
static unsigned written, cleared;
static char latest[400];

uint64_t monotonic_ns(void) { return now_ns; }
struct process_memory process_memory(void) {
  return (struct process_memory){.anonymous = 300 * MIB};
}
bool burst_goes_on(void) { return goes_on_rising; }
void burst_line(const struct recording_burst *burst, const char *known, char *to, size_t capacity) {
  (void)burst;
  snprintf(to, capacity, "named %.20s", known);
}
bool message_is_on(void) { return is_on; }
void message_clear(void) { cleared++; }
void message_write(const char *said) {
  written++;
  snprintf(latest, sizeof latest, "%s", said);
}
static bool does_count(void) { return counts; }

static struct memory_reading reading = {.limit_bytes = 1000 * MIB, .charged_bytes = 900 * MIB, .file_bytes = 0};
static struct recording_burst rise = {.sites = 1};

/* Advances the clock by `ns` and calls update_message(). Returns the number of messages that it writes. */
static unsigned look_after(uint64_t ns, const struct recording_burst *burst, bool is_new) {
  unsigned before = written;
  now_ns += ns;
  update_message(&reading, burst, is_new);
  return written - before;
}

static unsigned clears_after(uint64_t ns) {
  unsigned before = cleared;
  CHECK_EQUAL(look_after(ns, NULL, false), 0);
  return cleared - before;
}

static void scarce_memory_is_told_once_a_second(void) {
  CHECK_EQUAL(look_after(0, NULL, false), 1);
  CHECK(strcmp(latest, "89 % of the limit of 1000 MiB are used") == 0);
  CHECK_EQUAL(look_after(999 * MS, NULL, true), 0);
  CHECK_EQUAL(look_after(1 * MS, NULL, false), 1);
}

static void it_is_scarce_until_less_than_80_percent_are_used(void) {
  reading.charged_bytes = 801 * MIB;
  CHECK_EQUAL(look_after(SECOND, NULL, false), 1);
  reading.charged_bytes = 799 * MIB;
  CHECK_EQUAL(clears_after(SECOND), 1);
  reading.charged_bytes = 849 * MIB;
  CHECK_EQUAL(clears_after(SECOND), 1);
  reading.charged_bytes = 850 * MIB;
  CHECK_EQUAL(look_after(SECOND, NULL, false), 1);
}

/* The message must not count cached files as used memory, because the kernel drops them before it kills a process. */
static void cached_files_do_not_count(void) {
  reading.charged_bytes = 990 * MIB;
  reading.file_bytes = 300 * MIB;
  CHECK_EQUAL(clears_after(SECOND), 1);
  CHECK_EQUAL(look_after(SECOND, &rise, true), 1);
  CHECK(strncmp(latest, "68 % of the limit", 17) == 0);
  reading.file_bytes = 0;
}

/* A new method name is known 5 ms after a message. The library must wait 5 ms more before it writes the next
 * message. */
static void news_of_a_rise_wait_for_the_pause(void) {
  reading.charged_bytes = 500 * MIB;
  CHECK_EQUAL(look_after(SECOND, &rise, true), 1);
  snprintf(known_names, sizeof known_names, "Buffers");
  CHECK_EQUAL(look_after(5 * MS, &rise, true), 0);
  CHECK_EQUAL(look_after(4 * MS, &rise, false), 0);
  CHECK_EQUAL(look_after(1 * MS, &rise, false), 1);
  CHECK(strcmp(latest, "49 % of the limit of 1000 MiB are used; named Buffers") == 0);
  CHECK_EQUAL(look_after(500 * MS, &rise, false), 0);
  CHECK_EQUAL(look_after(500 * MS, &rise, false), 1);
}

static void a_rise_that_ended_is_told_no_longer(void) {
  goes_on_rising = false;
  CHECK_EQUAL(clears_after(MS), 1);
  unsigned before = cleared;
  CHECK_EQUAL(look_after(SECOND, &rise, true), 0);
  CHECK_EQUAL(cleared, before + 1);
  goes_on_rising = true;
}

static void a_rise_is_told_from_a_third_of_the_limit_on(void) {
  reading.charged_bytes = 333 * MIB;
  CHECK_EQUAL(look_after(SECOND, &rise, true), 0);
  reading.charged_bytes = 334 * MIB;
  CHECK_EQUAL(look_after(SECOND, &rise, true), 1);
  reading.limit_bytes = RECORDING_UNKNOWN;
  CHECK_EQUAL(look_after(SECOND, &rise, true), 1);
  CHECK(strcmp(latest, "300 MiB are used; named Buffers") == 0);
  rise.sites = 0;
  CHECK_EQUAL(look_after(SECOND, &rise, true), 0);
  rise.sites = 1;
  reading.limit_bytes = 1000 * MIB;
}

static void a_detach_ends_it(void) {
  reading.charged_bytes = 990 * MIB;
  counts = false;
  CHECK_EQUAL(clears_after(SECOND), 1);
  counts = true;
  is_on = false;
  CHECK_EQUAL(clears_after(SECOND), 0);
  is_on = true;
  CHECK_EQUAL(look_after(0, NULL, false), 1);
}

int main(void) {
  wants_names = does_count;
  scarce_memory_is_told_once_a_second();
  it_is_scarce_until_less_than_80_percent_are_used();
  cached_files_do_not_count();
  news_of_a_rise_wait_for_the_pause();
  a_rise_that_ended_is_told_no_longer();
  a_rise_is_told_from_a_third_of_the_limit_on();
  a_detach_ends_it();
  return 0;
}
