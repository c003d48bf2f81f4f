/*
 * The cost of samples, measured without a clock, because no exact clock may be read inside of malloc
 * (platform/clock.h). A sample counts its units of work, and its time is that number times the time of a unit. Threads
 * of the library, which may read clocks, measure the time of a unit: sampler_measure().
 *
 * A unit is the work of one step of a stack walk, from a frame to its caller by a cached rule: 25 ns on a processor of
 * 2.6 GHz. The units of other work were measured on that processor, by regression over the samples of a JVM and of a
 * compiler at the default interval. Samples at that interval are so rare that little of their data is in the
 * processor's caches.
 */
#ifndef MALLOMETER_SAMPLE_WORK_H
#define MALLOMETER_SAMPLE_WORK_H

#include <stdint.h>

enum {
  /* Adding to the sums of the call site, and insertion into and removal from the table of live samples. */
  WORK_SAMPLE = 20,
  WORK_FRAME = 1,
  /* The search for the rule of a frame (frame_rule.h) in the tables of the loaded object. */
  WORK_RULE = 80,
  /* Adding a node to the tree of stacks. */
  WORK_NEW_FRAME = 24,
  /* A request to the JVM, and each frame that it returns. */
  WORK_JAVA = 40,
  WORK_JAVA_FRAME = 1,
  /* The move of an object into a slot. */
  WORK_SLOT = 100,
  /* The return of a slot's pages to the kernel, including the flush of their TLB entries on other processors. */
  WORK_SLOT_BACK = 100,
  /* The sampler's decision about an allocation (a visit), without the work for the sample. */
  WORK_VISIT = 3
};

#endif
