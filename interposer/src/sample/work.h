/*
 * What samples cost, without a clock: inside of malloc there is none that is exact (platform/clock.h). A sample counts
 * what it does, and is billed that work times the time that a unit of it takes. That is measured where clocks may be
 * read, by threads of the library: sampler_measure().
 *
 * A unit is a frame that is followed by a rule that is known: 25 ns on a processor of 2.6 GHz. The others are as many
 * times as expensive as they were there, by regression over the samples of a JVM and of a compiler at the default
 * interval, which are so rare that little of what they need is in the processor's caches.
 */
#ifndef MALLOMETER_SAMPLE_WORK_H
#define MALLOMETER_SAMPLE_WORK_H

#include <stdint.h>

enum {
  /* Sums, and the table of live samples, both ways. */
  WORK_SAMPLE = 20,
  WORK_FRAME = 1,
  /* A rule that has to be found in the tables of its object. */
  WORK_RULE = 80,
  /* A frame that no stack had before. */
  WORK_NEW_FRAME = 24,
  /* To ask the JVM, and for each frame that it tells. */
  WORK_JAVA = 40,
  WORK_JAVA_FRAME = 1,
  /* To move an object into a slot. */
  WORK_SLOT = 100,
  /* To clear the pages of a slot, and what other processors know of them. */
  WORK_SLOT_BACK = 100,
  /* A visit, whether it takes the allocation or not. */
  WORK_VISIT = 3
};

#endif
