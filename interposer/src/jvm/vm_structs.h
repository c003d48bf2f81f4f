/* HotSpot's description of its structures for its own tools (gHotSpotVMStructs). Some versions of the JVM lack some
 * fields, so each field is optional. A damaged description makes fields unknown, but causes no fault. */
#ifndef MALLOMETER_JVM_VM_STRUCTS_H
#define MALLOMETER_JVM_VM_STRUCTS_H

#include <stdbool.h>
#include <stdint.h>

/* Sets `where` to a field's offset in its structure, or to the address of a static field. Returns false if there is
 * no such field. */
bool vm_structs_field(const char *type, const char *field, bool wants_static, uint64_t *where);

/* Returns the bytes of a structure; 0 if it is unknown. */
uint64_t vm_structs_size(const char *type);

#endif
