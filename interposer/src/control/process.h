/*
 * The life of the process as far as it is ours: what it is configured to, its start and its forks, whether it counts
 * and why not.
 *
 * The constructor runs after the C library is usable and before main; events that come earlier (the loader's, those of
 * other constructors) are counted already, as the hook starts itself at its first event.
 */
#ifndef MALLOMETER_CONTROL_PROCESS_H
#define MALLOMETER_CONTROL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enum mallometer_state */
int process_state(void);

/* Why the state is what it is, and why call sites are not recorded although they are asked for. */
void process_reason(char *text, size_t capacity);

/* Whether this process counts nothing, whatever is asked of the library later. */
bool process_never_counts(void);

/* 0, or -ENODATA if it never counts. What came and went while counting was off is in no sum. */
int process_disable(void);
int process_enable(void);

/*
 * For control/attachment.h. Reads the environment, the first time. Returns why this process must not count although it
 * could; NULL if nothing is against it.
 */
const char *process_objection(void);

/* Whether this is a child that was forked since the library was loaded. */
bool process_was_forked(void);

/*
 * What is needed before a process counts that runs already. Samples of an attach before count as freed: some are, past
 * the library. Enters the loader, the first time. May change errno.
 */
void process_prepare(void);

/* From now on the state is this, for the reason that the format of printf makes. One thread at a time. */
__attribute__((format(printf, 2, 3))) void process_state_is(int state, const char *format, ...);

/* Does what comes with counting: the recording, if the environment asks for it. */
void process_counts(void);

/* What serves the allocations, such as "glibc 2.36"; empty before the start. */
const char *process_allocator(void);

/* enum mallometer_byte_unit */
uint32_t process_byte_unit(void);

bool process_wants_java_frames(void);

/*
 * Whether call sites are recorded, now that somebody asks for them. Most programs that inherit the preload never do,
 * and the tables are not reserved in those: they count against limits that are meant for the program. Keeps errno.
 */
bool process_has_call_sites(void);

/* Records them from now on if they are wanted and there is room. May change errno. */
void process_record_call_sites(void);

/* Starts the recording: see recording_start(). */
int process_record(const char *path);

#endif
