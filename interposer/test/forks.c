/* Forks in a process whose threads allocate. The child allocates, starts threads, forks again and executes programs.
 * Its counters begin with the values of the parent's. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4 };
static volatile int stop, pauses;
static uint64_t rounds;

static void *churn(void *unused) {
  (void)unused;
  while (!stop) {
    void *objects[20];
    for (int i = 0; i < 20; i++) objects[i] = malloc((size_t)i * 100);
    for (int i = 0; i < 20; i++) free(objects[i]);
    __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
    while (pauses && !stop) usleep(100);
  }
  return NULL;
}

/* Forks while the threads allocate. The threads then pause, which leaves the processors to the child. */
static pid_t fork_meanwhile(void) {
  uint64_t before = __atomic_load_n(&rounds, __ATOMIC_RELAXED);
  pauses = 0;
  double begin = seconds();
  while (__atomic_load_n(&rounds, __ATOMIC_RELAXED) < before + 100 * THREADS) {
    CHECK(seconds() - begin < 60);
    usleep(500);
  }
  pid_t pid = fork();
  pauses = 1;
  return pid;
}

static void *allocate_once(void *unused) {
  (void)unused;
  free(malloc(10));
  return NULL;
}

static int exit_code(pid_t child) {
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void child(void) {
  CHECK_EQUAL(snapshot().threads, 1);
  struct mallometer_counters start = snapshot();
  for (int i = 0; i < 1000; i++) free(malloc(64));
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 1000); /* the child has no other thread that allocates */
  CHECK_EQUAL(d.frees, 1000);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, allocate_once, NULL), 0);
  pthread_join(thread, NULL);
  pid_t grandchild = fork();
  if (grandchild == 0) {
    free(malloc(100));
    _exit(snapshot().threads == 1 ? 0 : 1);
  }
  CHECK_EQUAL(exit_code(grandchild), 0);
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, churn, NULL), 0);
  for (int i = 0; i < 30; i++) {
    pid_t pid = fork_meanwhile();
    if (pid == 0) {
      alarm(20);
      child();
      if (i % 10 == 0) execl("/bin/sh", "sh", "-c", "exec true", (char *)NULL);
      _exit(0);
    }
    CHECK_EQUAL(exit_code(pid), 0);
  }
  stop = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  struct mallometer_counters end = snapshot();
  CHECK_EQUAL(end.threads, 1);
  return 0;
}
