/*
 * Counts the allocations and frees between two snapshots, in the whole process and in the calling thread alone.
 *
 * The program does not link the library. It prints the counts if the library is preloaded, and also runs without it:
 *
 *     cc $(pkg-config --cflags mallometer) bracket.c -o bracket
 *     LD_PRELOAD=$(pkg-config --variable=preload mallometer) ./bracket
 */
#include <inttypes.h>
#include <mallometer_optional.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The work: a list of words, of which every tenth is never freed. */
static size_t work(void) {
  size_t forgotten = 0;
  for (int i = 0; i < 1000; i++) {
    char *word = malloc(32);
    if (!word) break;
    snprintf(word, 32, "word %d", i);
    if (i % 10 == 0) {
      forgotten += strlen(word);
    } else {
      free(word);
    }
  }
  return forgotten;
}

static void report(const char *of, const struct mallometer_counters *start, const struct mallometer_counters *end) {
  struct mallometer_counters bracket;
  mallometer_difference(start, end, &bracket);
  printf("%s: %" PRIu64 " allocations of %" PRIu64 " bytes, %" PRIu64 " frees, %+" PRId64 " bytes live\n", of,
         mallometer_allocations(&bracket), bracket.requested_bytes, bracket.frees, mallometer_live_bytes(&bracket));
}

int main(void) {
  if (!mallometer_available()) {
    printf("mallometer is not loaded; working without\n");
    printf("%zu characters forgotten\n", work());
    return 0;
  }
  struct mallometer_counters start = {0}, end = {0};
  struct mallometer_counters thread_start = {0}, thread_end = {0};
  int process_known = mallometer_snapshot(&start) == 0;
  int thread_known = mallometer_thread_snapshot(&thread_start) == 0;
  size_t forgotten = work();
  process_known &= mallometer_snapshot(&end) == 0;
  thread_known &= mallometer_thread_snapshot(&thread_end) == 0;
  printf("%zu characters forgotten\n", forgotten);
  if (process_known) report("process", &start, &end);
  if (thread_known) report("thread", &thread_start, &thread_end);
  return 0;
}
