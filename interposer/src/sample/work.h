/*
 * The cost of samples, in units of work. No exact clock may be read inside of malloc (platform/clock.h), so a sample
 * counts its units, and threads of the library measure the time of a unit: sampler_measure().
 *
 * A unit is one step of a stack walk, from a frame to its caller by a cached rule: 25 ns on a processor of 2.6 GHz.
 * The units of other work were measured on that processor, by regression over the samples of a JVM and of a compiler
 * at the default interval.
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
  /* Reading Java frames: a request to the JVM costs WORK_JAVA units, and each returned frame WORK_JAVA_FRAME. */
  WORK_JAVA = 40,
  WORK_JAVA_FRAME = 1,
  /* Moving a sampled object into a slot (pages of its own, leak/slots.h). */
  WORK_SLOT = 100,
  /* Returning a slot (the pages of one sampled object) to the kernel, including the flush of TLB entries on other
   * processors. */
  WORK_SLOT_BACK = 100,
  /* The sampler's decision about an allocation, without the work for the sample. */
  WORK_VISIT = 3
};

#endif
