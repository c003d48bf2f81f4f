/* The ring of the latest samples. See latest_samples.h. */
#include "sample/latest_samples.h"

#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/thread.h"

static struct latest_sample ring[LATEST_SAMPLES];
static bool kept;
static uint64_t taken;
static uint64_t taken_bytes;

void latest_samples_keep(void) {
  memory_touch(ring, sizeof ring);
  __atomic_store_n(&kept, true, __ATOMIC_RELEASE);
}

void latest_samples_forked(void) { __atomic_store_n(&kept, false, __ATOMIC_RELAXED); }

/* Stores an entry of the ring. The store of 0 marks the entry as incomplete. The fence keeps the following stores
 * from becoming visible before this 0. */
__attribute__((noinline)) static void store(uint32_t site, uint64_t bytes) {
  uint64_t number = __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
  struct latest_sample *entry = &ring[number % LATEST_SAMPLES];
  __atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&entry->monotonic_ns, coarse_monotonic_ns(), __ATOMIC_RELAXED);
  __atomic_store_n(&entry->bytes, bytes, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->site, site, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->thread, thread_id_known(), __ATOMIC_RELAXED);
  __atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
  __atomic_fetch_add(&taken_bytes, bytes, __ATOMIC_RELAXED);
}

void latest_samples_add(uint32_t site, double bytes) {
  if (__atomic_load_n(&kept, __ATOMIC_RELAXED)) store(site, (uint64_t)bytes);
}

uint64_t latest_samples_count(void) { return __atomic_load_n(&taken, __ATOMIC_RELAXED); }

uint64_t latest_samples_bytes(void) { return __atomic_load_n(&taken_bytes, __ATOMIC_RELAXED); }

bool latest_sample_read(uint64_t number, struct latest_sample *to) {
  const struct latest_sample *entry = &ring[number % LATEST_SAMPLES];
  if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number) return false;
  to->number = number;
  to->monotonic_ns = __atomic_load_n(&entry->monotonic_ns, __ATOMIC_RELAXED);
  to->bytes = __atomic_load_n(&entry->bytes, __ATOMIC_RELAXED);
  to->site = __atomic_load_n(&entry->site, __ATOMIC_RELAXED);
  to->thread = __atomic_load_n(&entry->thread, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&entry->number, __ATOMIC_RELAXED) == number;
}
