/*
 * Records the allocations of a program for simulations. It replaces src/sample/call_sites.c. With
 * MALLOMETER_SAMPLE_INTERVAL=1 it writes a struct record for each allocation to the file that MALLOMETER_TRACE names. A
 * record has a hash of the stack, the caller's return address, the height of the stack, the thread and the number of
 * bytes. recorded.py makes recorded.bin from that file.
 */
#define call_sites_record take
#include "sample/call_sites.c"
#undef call_sites_record

void *call_sites_record(struct sample *sample);

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_RECORDS = 4 << 20 };

static struct record {
  uint64_t stack, caller;
  uint32_t height, thread;
  uint64_t bytes;
} * records;

static uint32_t recorded;

__attribute__((constructor)) static void open_file(void) {
  const char *path = getenv("MALLOMETER_TRACE");
  int file = path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
  if (file < 0 || ftruncate(file, MOST_RECORDS * (off_t)sizeof *records) != 0) return;
  void *mapped = mmap(NULL, MOST_RECORDS * sizeof *records, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) __atomic_store_n(&records, (struct record *)mapped, __ATOMIC_RELEASE);
}

void *call_sites_record(struct sample *sample) {
  uint64_t frames[MOST_NATIVE_FRAMES + MOST_JAVA_FRAMES + 1];
  struct registers caller;
  bool cut = false;
  struct record *file = __atomic_load_n(&records, __ATOMIC_ACQUIRE);
  if (!file || !sample->block) return sample->object;
  uint32_t count = native_frames(sample, frames, &caller, &cut);
  count += add_java_frames(sample->block, &caller, frames + count, MOST_JAVA_FRAMES);
  uint32_t number = __atomic_fetch_add(&recorded, 1, __ATOMIC_RELAXED);
  if (number >= MOST_RECORDS) return sample->object;
  file[number] = (struct record){hash_of(frames, count), (uint64_t)(uintptr_t)sample->origin.caller,
                                 (uint32_t)((uintptr_t)__builtin_thread_pointer() - (uintptr_t)sample->origin.stack),
                                 (uint32_t)((uintptr_t)sample->block >> 8), sample->bytes};
  return sample->object;
}
