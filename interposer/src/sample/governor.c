/* The account of the CPU time of samples. See governor.h. */
#include "sample/governor.h"

#include <stdbool.h>

static void change(struct governor *governor, uint32_t halvings, uint64_t now, int64_t credit) {
  __atomic_store_n(&governor->halvings, halvings, __ATOMIC_RELAXED);
  __atomic_store_n(&governor->credit_at_change_ns, credit, __ATOMIC_RELAXED);
  __atomic_store_n(&governor->changed_ns, now, __ATOMIC_RELAXED);
}

void governor_spend(struct governor *governor, uint64_t begin_ns, uint64_t end_ns) {
  uint64_t spent = end_ns > begin_ns ? end_ns - begin_ns : 0;
  if (spent > GOVERNOR_LONGEST_SAMPLE_NS) spent = GOVERNOR_LONGEST_SAMPLE_NS;
  __atomic_fetch_add(&governor->spent_ns, spent, __ATOMIC_RELAXED);
  uint32_t target = __atomic_load_n(&governor->target_ppm, __ATOMIC_RELAXED);
  if (target == 0) {
    __atomic_store_n(&governor->halvings, 0, __ATOMIC_RELAXED);
    return;
  }
  uint64_t since = __atomic_exchange_n(&governor->settled_ns, end_ns, __ATOMIC_RELAXED);
  const uint64_t longest = (uint64_t)GOVERNOR_MOST_CREDIT_NS * 1000000u / target;
  uint64_t elapsed =
      end_ns > since ? end_ns - since : 0; /* Another thread may have read the clock later than this one. */
  if (since == 0) elapsed = 0;
  if (elapsed > longest) elapsed = longest;
  int64_t credit = __atomic_load_n(&governor->credit_ns, __ATOMIC_RELAXED);
  credit += (int64_t)(elapsed * target / 1000000u) - (int64_t)spent;
  if (credit > GOVERNOR_MOST_CREDIT_NS) credit = GOVERNOR_MOST_CREDIT_NS;
  if (credit < -GOVERNOR_MOST_DEBT_NS) credit = -GOVERNOR_MOST_DEBT_NS;
  __atomic_store_n(&governor->credit_ns, credit, __ATOMIC_RELAXED);

  uint32_t halvings = __atomic_load_n(&governor->halvings, __ATOMIC_RELAXED);
  uint64_t changed = __atomic_load_n(&governor->changed_ns, __ATOMIC_RELAXED);
  uint64_t ago = end_ns > changed ? end_ns - changed : 0;
  bool falls = credit < 0 && (credit == -GOVERNOR_MOST_DEBT_NS ||
                              credit < __atomic_load_n(&governor->credit_at_change_ns, __ATOMIC_RELAXED));
  if (falls && halvings < GOVERNOR_MOST_HALVINGS && ago >= GOVERNOR_PAUSE_AFTER_HALVING_NS) {
    change(governor, halvings + 1, end_ns, credit);
  }
  if (credit > GOVERNOR_ENOUGH_CREDIT_NS && halvings > 0 && ago >= GOVERNOR_PAUSE_AFTER_DOUBLING_NS) {
    change(governor, halvings - 1, end_ns, credit);
  }
}

static double half_to_the(uint32_t power) { return 1.0 / (double)(1u << power); }

/* Returns 2^-n. The exponent n is `halvings` - `before`, but at least 0 and at most `most`. */
static double share_after(uint32_t halvings, uint32_t before, uint32_t most) {
  uint32_t own = halvings > before ? halvings - before : 0;
  return half_to_the(own < most ? own : most);
}

struct governor_shares governor_shares(const struct governor *governor) {
  uint32_t halvings = __atomic_load_n(&governor->halvings, __ATOMIC_RELAXED);
  const uint32_t of_busy = GOVERNOR_HALVINGS_OF_BUSY, of_numbers = GOVERNOR_HALVINGS_OF_NUMBERS;
  return (struct governor_shares){share_after(halvings, 0, of_busy), share_after(halvings, of_busy, of_numbers),
                                  share_after(halvings, of_busy + of_numbers, GOVERNOR_MOST_HALVINGS)};
}

/* ---- A thread's own limit ------------------------------------------------------------------------------ */

static uint32_t in_ms(uint64_t ns) { return (uint32_t)(ns >> 20); }

void burst_spend(struct burst *burst, uint64_t took_ns, uint64_t end_ns) {
  if (in_ms(end_ns) - burst->begin_ms >= GOVERNOR_BURST_MS) *burst = (struct burst){in_ms(end_ns), 0};
  uint32_t most = UINT32_MAX - burst->spent_ns;
  burst->spent_ns += took_ns < most ? (uint32_t)took_ns : most;
}

double burst_share(const struct burst *burst, uint64_t now_ns, uint32_t target_ppm) {
  uint64_t of_target = (uint64_t)GOVERNOR_BURST_MS * target_ppm;
  const uint64_t half = (of_target > GOVERNOR_BURST_NS ? of_target : GOVERNOR_BURST_NS) / 2;
  if (burst->spent_ns < half || in_ms(now_ns) - burst->begin_ms >= GOVERNOR_BURST_MS) return 1;
  uint64_t halvings = 1 + (burst->spent_ns - half) / (half / 8);
  return half_to_the(halvings < GOVERNOR_HALVINGS_OF_BURST ? (uint32_t)halvings : GOVERNOR_HALVINGS_OF_BURST);
}
