/*
 * Putting a new file in place beside those of earlier lives, without a moment in which half of one is seen. See
 * recording_file.h.
 */
#include "control/recording_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/files.h"
#include "recording_layout.h"

/* A life that got this far in the ring of one-minute samples lasted five minutes. */
#define SAMPLES_OF_A_LONG_LIFE 5

struct attempt {
  const char *path;
  char previous[RECORDING_PATH_BYTES + 16], kept[RECORDING_PATH_BYTES + 16], fresh[RECORDING_PATH_BYTES + 16];
  char *reason;
  size_t reason_bytes;
};

__attribute__((format(printf, 2, 3))) static void because(struct attempt *attempt, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(attempt->reason, attempt->reason_bytes, format, arguments);
  va_end(arguments);
}

/* ---- What lies there already -------------------------------------------------------------------------- */

static bool read_header(int file, struct recording_header *header) {
  return pread(file, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
         memcmp(header->magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC) == 0;
}

/* Opens a file that may be moved aside. -1 with errno ENOENT: there is none; with errno 0: a reason is stated. */
static int open_own(struct attempt *attempt, const char *path, struct recording_header *header) {
  int file = file_open_existing(path);
  if (file < 0) {
    if (errno == ENOENT) return -1;
    because(attempt, "%s: %s", path, errno == ELOOP ? "is a symbolic link" : strerror(errno));
    errno = 0;
    return -1;
  }
  struct file_status status;
  const char *fault = NULL;
  if (!file_status(file, &status) || !status.is_regular) {
    fault = "is not a regular file";
  } else if (!status.is_own) {
    fault = "belongs to another user";
  } else if (!read_header(file, header)) {
    fault = "is not a recording and is left unchanged";
  }
  if (!fault) return file;
  close(file);
  because(attempt, "%s: %s", path, fault);
  errno = 0;
  return -1;
}

static bool lasted_long(int file, const struct recording_header *header) {
  const struct recording_region *minutes = NULL;
  for (uint32_t i = 0; i < header->regions_used && i < RECORDING_REGIONS; i++) {
    if (header->regions[i].kind == RECORDING_SAMPLES) minutes = &header->regions[i];
  }
  struct recording_sample sample;
  if (!minutes || minutes->slots <= SAMPLES_OF_A_LONG_LIFE) return true;
  off_t offset = (off_t)(minutes->offset + (uint64_t)SAMPLES_OF_A_LONG_LIFE * minutes->slot_bytes);
  return pread(file, &sample, sizeof sample, offset) == (ssize_t)sizeof sample && sample.sequence != 0;
}

/* Whether FILE.previous and FILE.kept, where they exist, are ours. Tells whether the former should displace the latter.
 */
static bool look_at_earlier_lives(struct attempt *attempt, bool *keep) {
  struct recording_header header;
  int previous = open_own(attempt, attempt->previous, &header);
  if (previous < 0 && errno != ENOENT) return false;
  *keep = previous >= 0 && lasted_long(previous, &header);
  bool exists = previous >= 0;
  if (exists) close(previous);
  int kept = open_own(attempt, attempt->kept, &header);
  if (kept < 0 && errno != ENOENT) return false;
  if (kept < 0) *keep = exists;
  if (kept >= 0) close(kept);
  return true;
}

/* The same process before it executed another program: nothing that ended. */
static bool is_this_process(const struct recording_header *older, const struct recording_header *now) {
  return older->pid == now->pid && older->process_start_ticks == now->process_start_ticks &&
         now->process_start_ticks != 0 && memcmp(older->boot_id, now->boot_id, sizeof now->boot_id) == 0;
}

/* ---- The new file ------------------------------------------------------------------------------------- */

/* One that a killed process left before it was complete; never somebody else's file. */
static bool remove_unfinished(struct attempt *attempt) {
  int file = file_open_existing(attempt->fresh);
  if (file < 0) return errno == ENOENT;
  struct file_status status;
  struct recording_header header = {.life = 0};
  static const char zeros[sizeof header.magic];
  bool ours = file_status(file, &status) && status.is_regular && status.is_own &&
              pread(file, &header, sizeof header, 0) >= 0 &&
              (memcmp(header.magic, zeros, sizeof zeros) == 0 ||
               memcmp(header.magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC) == 0);
  bool removed = ours && file_lock(file) && file_is_at(attempt->fresh, file) && unlink(attempt->fresh) == 0;
  close(file);
  return removed;
}

static int create_fresh(struct attempt *attempt) {
  for (int i = 0; i < 2; i++) {
    int file = file_create(attempt->fresh);
    if (file >= 0) return file;
    if (errno != EEXIST) {
      because(attempt, "%s: %s", attempt->fresh, strerror(errno));
      return -1;
    }
    if (!remove_unfinished(attempt)) break;
  }
  because(attempt,
          "%s exists: another process is starting, or the file is another program's; remove it or choose another path",
          attempt->fresh);
  return -1;
}

static void *fill_and_map(struct attempt *attempt, int file, const struct recording_header *header) {
  int error = file_allocate(file, RECORDING_FILE_BYTES);
  if (error) {
    because(attempt, "cannot allocate %zu KiB for %s: %s", RECORDING_FILE_BYTES >> 10, attempt->path, strerror(error));
    return NULL;
  }
  if (!file_make_private(file) || pwrite(file, header, sizeof *header, 0) != (ssize_t)sizeof *header) {
    because(attempt, "cannot write %s: %s", attempt->path, strerror(errno));
    return NULL;
  }
  void *mapping = file_map(file, RECORDING_FILE_BYTES);
  if (!mapping) {
    because(attempt, "cannot map %s: %s", attempt->path, strerror(errno));
    return NULL;
  }
  if (file_lock(file)) return mapping;
  because(attempt, "cannot lock %s: %s", attempt->path, strerror(errno));
  file_unmap(mapping, RECORDING_FILE_BYTES);
  return NULL;
}

/* Moves the earlier lives and puts the new file in place. */
static bool take_place(struct attempt *attempt, int file, bool displaces, bool keep) {
  if (displaces) {
    if (keep && rename(attempt->previous, attempt->kept) != 0 && errno != ENOENT) return false;
    if (rename(attempt->path, attempt->previous) != 0) return false;
  }
  return file_rename_to_nothing(attempt->fresh, attempt->path) && file_is_at(attempt->path, file);
}

/* ---- One after the other ------------------------------------------------------------------------------ */

enum outcome { DONE, REFUSED, OVERTAKEN };

static enum outcome place_beside(struct attempt *attempt, int old, bool displaces,
                                 const struct recording_header *header, void **mapping) {
  bool keep = false;
  if (displaces && !look_at_earlier_lives(attempt, &keep)) return REFUSED;
  int file = create_fresh(attempt);
  if (file < 0) return REFUSED;
  *mapping = fill_and_map(attempt, file, header);
  enum outcome outcome = *mapping ? DONE : REFUSED;
  if (*mapping && old >= 0 && !displaces && unlink(attempt->path) != 0) outcome = OVERTAKEN;
  if (outcome == DONE && !take_place(attempt, file, displaces, keep)) {
    because(attempt, "%s: %s", attempt->path,
            errno ? strerror(errno) : "another process made the file at the same time");
    outcome = OVERTAKEN;
  }
  if (outcome != DONE) {
    if (file_is_at(attempt->fresh, file)) unlink(attempt->fresh);
    if (*mapping) file_unmap(*mapping, RECORDING_FILE_BYTES);
    *mapping = NULL;
  }
  close(file); /* the mapping keeps the lock */
  return outcome;
}

static enum outcome try_once(struct attempt *attempt, const struct recording_header *header, void **mapping) {
  struct recording_header older;
  int old = open_own(attempt, attempt->path, &older);
  if (old < 0 && errno != ENOENT) return REFUSED;
  enum outcome outcome;
  if (old >= 0 && !file_lock(old)) {
    bool taken = errno == EAGAIN || errno == EACCES;
    if (taken) because(attempt, "%s is in use by process %u", attempt->path, older.pid);
    if (!taken) because(attempt, "cannot lock %s: %s", attempt->path, strerror(errno));
    outcome = REFUSED;
  } else if (old >= 0 && !file_is_at(attempt->path, old)) {
    outcome = OVERTAKEN;
  } else {
    outcome = place_beside(attempt, old, old >= 0 && !is_this_process(&older, header), header, mapping);
  }
  if (old >= 0) close(old);
  return outcome;
}

void *recording_create(const char *path, const struct recording_header *header, char *reason, size_t reason_bytes) {
  struct attempt attempt = {.path = path, .reason = reason, .reason_bytes = reason_bytes};
  snprintf(attempt.previous, sizeof attempt.previous, "%s.previous", path);
  snprintf(attempt.kept, sizeof attempt.kept, "%s.kept", path);
  snprintf(attempt.fresh, sizeof attempt.fresh, "%s.new", path);
  if (!file_size_is_allowed(RECORDING_FILE_BYTES)) {
    because(&attempt, "the limit of file sizes (ulimit -f) is below %zu KiB", RECORDING_FILE_BYTES >> 10);
    return NULL;
  }
  because(&attempt, "%s: another process made the file at the same time", path);
  void *mapping = NULL;
  for (int i = 0; i < 3; i++) {
    if (try_once(&attempt, header, &mapping) != OVERTAKEN) break;
  }
  return mapping;
}
