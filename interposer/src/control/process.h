/*
 * The library's configuration and state in this process: its start, its forks, whether it counts, and why not.
 *
 * The constructor runs before main, when the C library is usable. Events before it (of the loader and of other
 * constructors) are counted as well, because the hook starts itself at its first event.
 */
#ifndef MALLOMETER_CONTROL_PROCESS_H
#define MALLOMETER_CONTROL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the state, an enum mallometer_state. */
int process_state(void);

/* Writes the reason for the state and, if call sites are wanted but not recorded, the reason for that. */
void process_reason(char *text, size_t capacity);

/* Returns whether this process will never count, except after mallometer_attach(). */
bool process_never_counts(void);

/* Switch counting off and on. Return 0; -ENODATA if process_never_counts(). Events while counting is off are not
 * counted. */
int process_disable(void);
int process_enable(void);

/*
 * Returns why the environment forbids an attach (counting in a process that runs already); NULL if it does not. The
 * first call reads the environment.
 */
const char *process_objection(void);

/* Returns whether this process was forked after the library was loaded. */
bool process_was_forked(void);

/*
 * Prepares a running process for counting. Samples of an earlier attach count as freed, because frees between the two
 * attaches were not seen. The first call enters the loader. May change errno.
 */
void process_prepare(void);

/* Sets the state and its reason, as printf formats it. Only one thread may call this at a time. */
__attribute__((format(printf, 2, 3))) void process_set_state(int state, const char *format, ...);

/* Starts what the environment asks for when counting begins: the exit report and the recording. */
void process_start_reports(void);

/* Returns the allocator that serves the process, such as "glibc 2.36"; empty before the start. */
const char *process_allocator(void);

/* Returns the unit of byte counts, an enum mallometer_byte_unit. */
uint32_t process_byte_unit(void);

bool process_wants_java_frames(void);

/*
 * Returns whether call sites are recorded, and starts recording them if they are wanted. Their tables count against the
 * limits of the program, so they are reserved at the first call of this function and not at the start: most programs
 * that inherit the preload never call it. Preserves errno.
 */
bool process_has_call_sites(void);

/* Starts recording call sites if they are wanted and there is memory for the tables. May change errno. */
void process_record_call_sites(void);

/* Begins to record mappings, if call sites are recorded. */
void process_note_mappings(void);

/* Starts the recording, as recording_start() does. */
int process_record(const char *path);

/* Starts the termination message, as recording_start_message() does. */
int process_write_message(const char *path);

#endif
