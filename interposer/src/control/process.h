/*
 * The library's configuration and state in this process: its start, its forks, whether it counts, and why not.
 *
 * The constructor runs before main. Events before the constructor, such as those of the loader, are counted as well,
 * because the first event starts the hook.
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

/* Returns why the environment forbids counting in a process that runs already; NULL if it does not. The first call
 * reads the environment. */
const char *process_objection(void);

bool process_was_forked(void);

/* Prepares a running process for counting. Counts the samples of an earlier attach as freed, because the library has
 * not seen the frees since the detach. The first call enters the loader. May change errno. */
void process_prepare(void);

/* Sets the state and its reason, as printf formats it. Only one thread may call this at a time. */
__attribute__((format(printf, 2, 3))) void process_set_state(int state, const char *format, ...);

/* Starts the exit report and the recording, if the environment asks for them. Must be called when counting begins. */
void process_start_reports(void);

/* Returns the allocator that serves the process, such as "glibc 2.36"; empty before the start. */
const char *process_allocator(void);

/* Returns the unit of byte counts, an enum mallometer_byte_unit. */
uint32_t process_byte_unit(void);

bool process_wants_java_frames(void);

/* Starts recording call sites if they are wanted, and returns whether they are recorded. The tables are not reserved
 * before the first call, because most programs that inherit the preload never need them. Preserves errno. */
bool process_has_call_sites(void);

/* Starts recording call sites if they are wanted and there is memory for the tables. May change errno. */
void process_record_call_sites(void);

void process_note_mappings(void);

int process_record(const char *path);

int process_write_message(const char *path);

#endif
