/* Walks the samples in slots (pages of a single object, leak/slots.h) first, then all others. See live_objects.h. */
#include "leak/live_objects.h"

#include "leak/slots.h"
#include "sample/live_samples.h"

bool live_objects_next(struct live_objects *walk, const void **object, struct live_sample *sample) {
  while (slots_reserved() > 0 && walk->slot < SLOTS) {
    struct slot_object slot;
    if (!slot_read((uint32_t)walk->slot++, &slot)) continue;
    *object = slot.object;
    *sample = slot.sample;
    return true;
  }
  return live_samples_next(&walk->place, object, sample);
}

static struct live_sample look(const void *object) {
  struct slot_object slot;
  if (!is_in_slots(object)) return live_sample_find(object);
  return slot_read(slot_number(object), &slot) && slot.object == object ? slot.sample : NO_LIVE_SAMPLE;
}

bool live_object_is(const void *object, const struct live_sample *sample) {
  struct live_sample now = look(object);
  return now.site == sample->site && now.born == sample->born && now.bytes == sample->bytes;
}
