/* The report at exit, in lines of the log. See exit_report.h. */
#include "control/exit_report.h"

#include <inttypes.h>
#include <stddef.h>
#include <unistd.h>

#include "account/huge_requests.h"
#include "account/monitors.h"
#include "control/log.h"
#include "control/snapshot.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "mallometer.h"
#include "platform/dynamic_symbols.h"
#include "platform/executable.h"
#include "platform/files.h"
#include "platform/libc.h"

enum { MOST_REQUESTS = 64 };

static struct exit_report report;

static struct file_status standard_error;
static bool standard_error_is_known;

static void write_maximum(const struct mallometer_counters *counters) {
  log_line(LOG_WARN,
           "%s (%d) at exit: peak %" PRIu64 " bytes, live %" PRIu64 "; %" PRIu64 " allocations of %" PRIu64
           " bytes requested, %" PRIu64 " frees, %" PRIu64 " failed; largest request %" PRIu64,
           executable_name(), (int)getpid(), counters->peak_live_bytes, counters->live_bytes,
           mallometer_allocations(counters), counters->requested_bytes, counters->frees, counters->failed,
           counters->largest_request_bytes);
}

static void write_classes(const uint64_t *allocations, const char *size) {
  log_line(LOG_WARN, "%s (%d) at exit: allocations by %s size", executable_name(), (int)getpid(), size);
  for (unsigned i = 0; i < MALLOMETER_SIZE_CLASSES; i++) {
    if (allocations[i] == 0) continue;
    if (i == MALLOMETER_SIZE_CLASSES - 1) {
      log_line(LOG_WARN, "  above %" PRIu64 " bytes: %" PRIu64, mallometer_class_limit(i - 1), allocations[i]);
    } else {
      log_line(LOG_WARN, "  up to %" PRIu64 " bytes: %" PRIu64, mallometer_class_limit(i), allocations[i]);
    }
  }
}

static uint64_t returned[MALLOMETER_SIZE_CLASSES];

static void write_frame(uint64_t address) {
  const struct link_map *object = object_of((const void *)(uintptr_t)address);
  if (!object) {
    log_line(LOG_WARN, "    0x%" PRIx64, address);
  } else {
    log_line(LOG_WARN, "    %s+0x%" PRIx64, object_file_name(object), address - object_bias(object));
  }
}

static void write_requests(void) {
  static struct mallometer_event events[MOST_REQUESTS];
  uint64_t all = huge_requests();
  uint32_t kept = huge_request_events(events, MOST_REQUESTS, 0);
  log_line(LOG_WARN, "%s (%d) at exit: %" PRIu64 " requests above %zu bytes, of which the latest %u follow",
           executable_name(), (int)getpid(), all, huge_threshold, kept);
  for (uint32_t i = 0; i < kept; i++) {
    log_line(LOG_WARN, "  request %" PRIu64 ": %" PRIu64 " bytes, thread %u %s", events[i].number,
             events[i].requested_bytes, events[i].thread_id, events[i].thread_name);
    for (uint32_t frame = 0; frame < events[i].frames; frame++) write_frame(events[i].stack[frame]);
  }
}

/* Returns whether standard error is still the same file. The program may have opened another file as descriptor 2.
 */
static bool standard_error_is_unchanged(void) {
  struct file_status current;
  return standard_error_is_known && file_status(STDERR_FILENO, &current) &&
         current.file_system == standard_error.file_system && current.number == standard_error.number;
}

static void write_report(int status) {
  (void)status;
  if (!standard_error_is_unchanged()) return;
  struct mallometer_counters counters = {0};
  snapshot_read(&counters);
  if (report.maximum) write_maximum(&counters);
  if (report.histogram) write_classes(counters.allocations, "requested");
  if (report.returned) write_classes(returned, "returned");
  if (report.threshold) write_requests();
}

void exit_report_start(struct exit_report wanted) {
  static bool started;
  if (started || !(wanted.maximum || wanted.histogram || wanted.returned || wanted.threshold)) return;
  started = true;
  report = wanted;
  standard_error_is_known = file_status(STDERR_FILENO, &standard_error);
  at_exit(write_report);
  if (!wanted.returned) return;
  const struct mallometer_monitor monitor = {returned, monitors_count_actual, NULL};
  if (monitor_add(&monitor) > 0) hook_choose_route();
}
