/*
 * Use mallometer if it is there, run without it if it is not.
 *
 * Include this instead of mallometer.h and link against nothing: the functions are weak references that the
 * preloaded library satisfies. Ask mallometer_available() once before calling any of them.
 */
#ifndef MALLOMETER_OPTIONAL_H
#define MALLOMETER_OPTIONAL_H

#include "mallometer.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma weak mallometer_abi_version
#pragma weak mallometer_attach
#pragma weak mallometer_attach_check
#pragma weak mallometer_detach
#pragma weak mallometer_snapshot
#pragma weak mallometer_thread_snapshot
#pragma weak mallometer_reset
#pragma weak mallometer_disable
#pragma weak mallometer_enable
#pragma weak mallometer_events
#pragma weak mallometer_sites
#pragma weak mallometer_site_stack
#pragma weak mallometer_modules
#pragma weak mallometer_objects
#pragma weak mallometer_leaks_start
#pragma weak mallometer_leaks_stop
#pragma weak mallometer_leaks
#pragma weak mallometer_evidence
#pragma weak mallometer_watch
#pragma weak mallometer_accesses
#pragma weak mallometer_search_start
#pragma weak mallometer_search
#pragma weak mallometer_jvm_attach
#pragma weak mallometer_method_name
#pragma weak mallometer_configure
#pragma weak mallometer_self
#pragma weak mallometer_record
#pragma weak mallometer_recording
#pragma weak mallometer_allocator
#pragma weak mallometer_trim
#pragma weak mallometer_scope_open
#pragma weak mallometer_scope_read
#pragma weak mallometer_scope_close
#pragma weak mallometer_scope_objects
#pragma weak mallometer_neighbours
#pragma weak mallometer_monitor_register
#pragma weak mallometer_monitor_unregister
#pragma weak mallometer_count_actual
#pragma weak mallometer_threshold_open
#pragma weak mallometer_threshold_read
#pragma weak mallometer_threshold_close
#pragma weak mallometer_owners_begin
#pragma weak mallometer_owners_step
#pragma weak mallometer_owners_rows
#pragma weak mallometer_owners_name
#pragma weak mallometer_owners_end

/* Whether the library is loaded and speaks the version that this program was compiled for. */
static inline int mallometer_available(void) {
  return mallometer_abi_version != 0 && mallometer_abi_version() == MALLOMETER_ABI_VERSION;
}

#ifdef __cplusplus
}
#endif

#endif /* MALLOMETER_OPTIONAL_H */
