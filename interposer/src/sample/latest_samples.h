/*
 * The latest samples in a ring of plain memory, written without a system call or a lock.
 *
 * A writer takes a number, marks the entry as incomplete, fills it and marks it with the number. A reader that finds
 * the same number before and after its copy has a complete entry. Nothing is written to the ring before
 * latest_samples_keep().
 */
#ifndef MALLOMETER_SAMPLE_LATEST_SAMPLES_H
#define MALLOMETER_SAMPLE_LATEST_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATEST_SAMPLES 4096u /* a power of two */

struct latest_sample {
  /* The number of the sample, from 1; 0 while the entry is being written. */
  uint64_t number;
  /* The time by CLOCK_MONOTONIC, at the kernel's latest tick. */
  uint64_t monotonic_ns;
  /* The bytes that the sample stands for. */
  uint64_t bytes;
  uint32_t site;
  /* The kernel's thread ID; 0 if a system call would be needed to find it. */
  uint32_t thread;
};

/* Begins to keep samples. Writes to the pages of the ring first, so that no sample has to wait for a page fault. */
void latest_samples_keep(void);

/* Stops storing samples in a forked child, because the library's thread that reads them does not exist there. */
void latest_samples_forked(void);

/* Stores a sample. May be called inside of malloc; preserves errno. */
void latest_samples_add(uint32_t site, double bytes);

/* Returns the number of the latest sample; 0 before the first. */
uint64_t latest_samples_count(void);

/* Returns the bytes that all samples since latest_samples_keep() stand for, including overwritten ones. */
uint64_t latest_samples_bytes(void);

/* Copies the sample with this number. Returns false if the sample was overwritten, is being written or was not taken
 * yet. */
bool latest_sample_read(uint64_t number, struct latest_sample *to);

#endif
