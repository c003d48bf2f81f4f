// A batch job that reads 60,000 pages and keeps one record of its journal after each 50th.
//
// Planted: note_progress. Its 1,200 records of 40 bytes, 58 KB with the heads of their chunks, lie every 50 pages
// through the main heap, and the last one at its top, so that glibc can lower the break by nothing: all pages are free,
// 60,000 x 4,112 bytes = 247 MB, free but not returned. All of it was written to and is resident; without the records
// it is all returned.
//
// Innocent: load_configuration. It keeps 8 MB in 4,000 blocks, more bytes and more blocks than the journal, but all of
// them lie below the first page and have nothing free between them.
//
// cc -O1 -g -fno-omit-frame-pointer -o journal journal.c
// Prints a line when it is ready, ends at a line on its input or after ten minutes.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { pages = 60000, page_size = 4096, pages_a_record = 50, settings = 4000, setting_size = 2000 };

struct record {
  struct record *previous;
  long page;
  char state[24];
};

static struct record *journal;
static char *configuration[settings];
static char *held[pages];

static void *must(void *block) {
  if (block == NULL) abort();
  return block;
}

static __attribute__((noinline)) void load_configuration(void) {
  for (int i = 0; i < settings; i++) {
    configuration[i] = must(malloc(setting_size));
    memset(configuration[i], 'c', setting_size);
  }
}

static __attribute__((noinline)) char *read_page(void) {
  char *page = must(malloc(page_size));
  memset(page, 'p', page_size);
  return page;
}

static __attribute__((noinline)) void note_progress(long page) {
  struct record *record = must(malloc(sizeof(struct record)));
  record->previous = journal;
  record->page = page;
  strcpy(record->state, "read");
  journal = record;
}

static __attribute__((noinline)) void run_batch(void) {
  for (long i = 0; i < pages; i++) {
    held[i] = read_page();
    if ((i + 1) % pages_a_record == 0) note_progress(i);
  }
  for (long i = 0; i < pages; i++) free(held[i]);
}

int main(void) {
  load_configuration();
  run_batch();
  struct mallinfo2 state = mallinfo2();
  printf("ready: %zu bytes free but not returned\n", state.fordblks);
  fflush(stdout);
  alarm(600);
  getchar();
  return 0;
}
