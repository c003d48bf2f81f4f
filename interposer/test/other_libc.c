/* A program for a C library that mallometer does not support. It allocates in threads, in a forked child and in a
 * destructor of a thread key. It prints sums of the objects' contents and ends with exit code 7. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_key_t key;

static void destructor(void *object) { free(realloc(object, 5000)); }

static void *work(void *sum) {
  void *objects[200];
  for (size_t i = 0; i < 200; i++) {
    size_t size = 1 + i * 997;
    void *aligned = NULL;
    if (i % 4 == 0) objects[i] = malloc(size);
    if (i % 4 == 1) objects[i] = calloc(1, size);
    if (i % 4 == 2) objects[i] = aligned_alloc(64, size / 64 * 64 + 64);
    if (i % 4 == 3) objects[i] = posix_memalign(&aligned, 4096, size) == 0 ? aligned : NULL;
    if (!objects[i]) exit(1);
    memset(objects[i], (int)i, size);
    objects[i] = realloc(objects[i], 2 * size);
    *(size_t *)sum += ((unsigned char *)objects[i])[size - 1];
  }
  for (size_t i = 0; i < 200; i++) free(objects[i]);
  pthread_setspecific(key, malloc(10));
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  size_t sums[5] = {0};
  int status = 0;
  if (pthread_key_create(&key, destructor) != 0) return 1;
  work(&sums[4]);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, &sums[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("%zu %zu %zu %zu %zu\n", sums[0], sums[1], sums[2], sums[3], sums[4]);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    work(&sums[0]);
    _exit(3);
  }
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3) return 1;
  free(malloc((size_t)1 << 40));
  printf("the end\n");
  return 7;
}
