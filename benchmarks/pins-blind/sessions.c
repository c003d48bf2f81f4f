// A server with four workers, each with an arena of its own, that remembers a key for every request it has served.
//
// Planted: remember_key, whose memory comes from strdup. Each worker serves 30 groups of 200 requests and then a burst
// of 6,000 at once; a request takes a buffer of 2 to 6 KiB, each eighth one leaves a key of some 30 bytes, and all
// buffers of a group are freed at its end. Groups use the same holes again; the burst grows the heap. In each
// arena 24.5 MB are then free but not returned, 98 MB in all, because the 750 keys of the burst (36 KB) lie among them,
// the last of them at the top. Without the keys all of it is returned: 10 MB are resident then, and 106 MB with them.
//
// Innocent: open_connection. Each worker takes 500 blocks of 4 KiB before its first request, 2 MB an arena: more bytes
// than the keys, but below everything that is free.
//
// cc -O1 -g -fno-omit-frame-pointer -pthread -o sessions sessions.c
// Prints a line when it is ready, ends at a line on its input or after ten minutes.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  workers = 4,
  connections = 500,
  connection_size = 4096,
  group = 200,
  groups = 30,
  burst = 6000,
  requests_a_key = 8
};

struct worker {
  pthread_t thread;
  int number;
  unsigned random;
  long served;
  size_t freed;
  void *connections[connections];
  char *keys[(group * groups + burst) / requests_a_key];
  int key_count;
};

static struct worker all[workers];
static pthread_barrier_t served;

static void *must(void *block) {
  if (block == NULL) abort();
  return block;
}

static __attribute__((noinline)) void *open_connection(void) {
  void *connection = must(malloc(connection_size));
  memset(connection, 'c', connection_size);
  return connection;
}

static __attribute__((noinline)) char *read_request(struct worker *worker) {
  worker->random = worker->random * 1103515245u + 12345u;
  size_t size = 2048 + (worker->random >> 16) % 4096;
  char *request = must(malloc(size));
  memset(request, 'r', size);
  worker->freed += size;
  return request;
}

static __attribute__((noinline)) void remember_key(struct worker *worker) {
  char key[40];
  snprintf(key, sizeof key, "/customer/%d/order/%08ld", worker->number, worker->served);
  worker->keys[worker->key_count++] = must(strdup(key));
}

static __attribute__((noinline)) void serve(struct worker *worker, int requests) {
  char **open = must(calloc((size_t)requests, sizeof *open));
  worker->freed = 0;
  for (int i = 0; i < requests; i++) {
    open[i] = read_request(worker);
    if (++worker->served % requests_a_key == 0) remember_key(worker);
  }
  for (int i = 0; i < requests; i++) free(open[i]);
  free(open);
}

static void *work(void *argument) {
  struct worker *worker = argument;
  for (int i = 0; i < connections; i++) worker->connections[i] = open_connection();
  for (int i = 0; i < groups; i++) serve(worker, group);
  serve(worker, burst);
  pthread_barrier_wait(&served);
  pause();
  return NULL;
}

int main(void) {
  alarm(600);
  mallopt(M_ARENA_MAX, workers + 1);
  pthread_barrier_init(&served, NULL, workers + 1);
  size_t freed = 0;
  for (int i = 0; i < workers; i++) {
    all[i].number = i;
    all[i].random = (unsigned)i + 1;
    if (pthread_create(&all[i].thread, NULL, work, &all[i]) != 0) abort();
  }
  pthread_barrier_wait(&served);
  for (int i = 0; i < workers; i++) freed += all[i].freed;
  printf("ready: %zu bytes of the last requests freed\n", freed);
  fflush(stdout);
  malloc_info(0, stderr);
  getchar();
  return 0;
}
