/* Creates the recording's file so that no reader ever sees it incomplete. See recording_file.h. */
#include "control/recording_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/files.h"
#include "recording_layout.h"

/* The index of the sixth one-minute sample, which is written after five minutes. */
#define SAMPLES_OF_A_LONG_RUN 5

struct creation_attempt {
  const char *path;
  char previous[RECORDING_PATH_BYTES + 16], kept[RECORDING_PATH_BYTES + 16], unfinished[RECORDING_PATH_BYTES + 16];
  char *reason;
  size_t reason_bytes;
};

__attribute__((format(printf, 2, 3))) static void set_reason(struct creation_attempt *attempt, const char *format,
                                                             ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(attempt->reason, attempt->reason_bytes, format, arguments);
  va_end(arguments);
}

/* ---- Existing files ----------------------------------------------------------------------------------- */

static bool read_header(int file, struct recording_header *header) {
  return pread(file, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
         memcmp(header->magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC) == 0;
}

/* Opens a recording of this user. Returns -1 on failure: with errno ENOENT if there is no file, otherwise with errno
 * 0 and the reason in `attempt`. */
static int open_own(struct creation_attempt *attempt, const char *path, struct recording_header *header) {
  int file = file_open_existing(path);
  if (file < 0) {
    if (errno == ENOENT) return -1;
    set_reason(attempt, "%s: %s", path, errno == ELOOP ? "is a symbolic link" : strerror(errno));
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
  set_reason(attempt, "%s: %s", path, fault);
  errno = 0;
  return -1;
}

static bool lasted_long(int file, const struct recording_header *header) {
  const struct recording_region *minutes = NULL;
  for (uint32_t i = 0; i < header->regions_used && i < RECORDING_REGIONS; i++) {
    if (header->regions[i].kind == RECORDING_SAMPLES) minutes = &header->regions[i];
  }
  struct recording_sample sample;
  if (!minutes || minutes->slots <= SAMPLES_OF_A_LONG_RUN) return true;
  off_t offset = (off_t)(minutes->offset + (uint64_t)SAMPLES_OF_A_LONG_RUN * minutes->slot_bytes);
  return pread(file, &sample, sizeof sample, offset) == (ssize_t)sizeof sample && sample.sequence != 0;
}

/* Returns whether FILE.previous and FILE.kept, if they exist, are recordings of this user. Sets `keep` to whether
 * FILE.previous is to replace FILE.kept. */
static bool check_previous_files(struct creation_attempt *attempt, bool *keep) {
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

/* Returns whether this process wrote the older recording itself, before it called exec. */
static bool is_this_process(const struct recording_header *older, const struct recording_header *now) {
  return older->pid == now->pid && older->process_start_ticks == now->process_start_ticks &&
         now->process_start_ticks != 0 && memcmp(older->boot_id, now->boot_id, sizeof now->boot_id) == 0;
}

/* ---- The new file ------------------------------------------------------------------------------------- */

/* Removes an incomplete file that a killed process left, but no file of another user or program. */
static bool remove_unfinished(struct creation_attempt *attempt) {
  int file = file_open_existing(attempt->unfinished);
  if (file < 0) return errno == ENOENT;
  struct file_status status;
  struct recording_header header = {.life = 0};
  static const char zeros[sizeof header.magic];
  bool ours = file_status(file, &status) && status.is_regular && status.is_own &&
              pread(file, &header, sizeof header, 0) >= 0 &&
              (memcmp(header.magic, zeros, sizeof zeros) == 0 ||
               memcmp(header.magic, RECORDING_MAGIC, sizeof RECORDING_MAGIC) == 0);
  bool removed = ours && file_lock(file) && file_is_at(attempt->unfinished, file) && unlink(attempt->unfinished) == 0;
  close(file);
  return removed;
}

static int create_unfinished(struct creation_attempt *attempt) {
  for (int i = 0; i < 2; i++) {
    int file = file_create(attempt->unfinished);
    if (file >= 0) return file;
    if (errno != EEXIST) {
      set_reason(attempt, "%s: %s", attempt->unfinished, strerror(errno));
      return -1;
    }
    if (!remove_unfinished(attempt)) break;
  }
  set_reason(
      attempt,
      "%s exists: another process is starting, or the file is another program's; remove it or choose another path",
      attempt->unfinished);
  return -1;
}

static void *fill_and_map(struct creation_attempt *attempt, int file, const struct recording_header *header) {
  int error = file_allocate(file, RECORDING_FILE_BYTES);
  if (error) {
    set_reason(attempt, "cannot allocate %zu KiB for %s: %s", RECORDING_FILE_BYTES >> 10, attempt->path,
               strerror(error));
    return NULL;
  }
  if (!file_make_private(file) || pwrite(file, header, sizeof *header, 0) != (ssize_t)sizeof *header) {
    set_reason(attempt, "cannot write %s: %s", attempt->path, strerror(errno));
    return NULL;
  }
  void *mapping = file_map(file, RECORDING_FILE_BYTES);
  if (!mapping) {
    set_reason(attempt, "cannot map %s: %s", attempt->path, strerror(errno));
    return NULL;
  }
  if (file_lock(file)) return mapping;
  set_reason(attempt, "cannot lock %s: %s", attempt->path, strerror(errno));
  file_unmap(mapping, RECORDING_FILE_BYTES);
  return NULL;
}

static bool move_into_place(struct creation_attempt *attempt, int file, bool displaces, bool keep) {
  if (displaces) {
    if (keep && rename(attempt->previous, attempt->kept) != 0 && errno != ENOENT) return false;
    if (rename(attempt->path, attempt->previous) != 0) return false;
  }
  return file_rename_without_replacing(attempt->unfinished, attempt->path) && file_is_at(attempt->path, file);
}

/* ---- Attempts to create the file ---------------------------------------------------------------------- */

enum outcome { DONE, REFUSED, OVERTAKEN };

static enum outcome place_new_file(struct creation_attempt *attempt, int old, bool displaces,
                                   const struct recording_header *header, void **mapping) {
  bool keep = false;
  if (displaces && !check_previous_files(attempt, &keep)) return REFUSED;
  int file = create_unfinished(attempt);
  if (file < 0) return REFUSED;
  *mapping = fill_and_map(attempt, file, header);
  enum outcome outcome = *mapping ? DONE : REFUSED;
  if (*mapping && old >= 0 && !displaces && unlink(attempt->path) != 0) outcome = OVERTAKEN;
  if (outcome == DONE && !move_into_place(attempt, file, displaces, keep)) {
    set_reason(attempt, "%s: %s", attempt->path,
               errno ? strerror(errno) : "another process made the file at the same time");
    outcome = OVERTAKEN;
  }
  if (outcome != DONE) {
    if (file_is_at(attempt->unfinished, file)) unlink(attempt->unfinished);
    if (*mapping) file_unmap(*mapping, RECORDING_FILE_BYTES);
    *mapping = NULL;
  }
  close(file); /* the mapping keeps the lock */
  return outcome;
}

static enum outcome try_once(struct creation_attempt *attempt, const struct recording_header *header, void **mapping) {
  struct recording_header older;
  int old = open_own(attempt, attempt->path, &older);
  if (old < 0 && errno != ENOENT) return REFUSED;
  enum outcome outcome;
  if (old >= 0 && !file_lock(old)) {
    bool taken = errno == EAGAIN || errno == EACCES;
    if (taken) set_reason(attempt, "%s is in use by process %u", attempt->path, older.pid);
    if (!taken) set_reason(attempt, "cannot lock %s: %s", attempt->path, strerror(errno));
    outcome = REFUSED;
  } else if (old >= 0 && !file_is_at(attempt->path, old)) {
    outcome = OVERTAKEN;
  } else {
    outcome = place_new_file(attempt, old, old >= 0 && !is_this_process(&older, header), header, mapping);
  }
  if (old >= 0) close(old);
  return outcome;
}

void *recording_create(const char *path, const struct recording_header *header, char *reason, size_t reason_bytes) {
  struct creation_attempt attempt = {.path = path, .reason = reason, .reason_bytes = reason_bytes};
  snprintf(attempt.previous, sizeof attempt.previous, "%s.previous", path);
  snprintf(attempt.kept, sizeof attempt.kept, "%s.kept", path);
  snprintf(attempt.unfinished, sizeof attempt.unfinished, "%s.new", path);
  if (!file_size_is_allowed(RECORDING_FILE_BYTES)) {
    set_reason(&attempt, "the limit of file sizes (ulimit -f) is below %zu KiB", RECORDING_FILE_BYTES >> 10);
    return NULL;
  }
  set_reason(&attempt, "%s: another process made the file at the same time", path);
  void *mapping = NULL;
  for (int i = 0; i < 3; i++) {
    if (try_once(&attempt, header, &mapping) != OVERTAKEN) break;
  }
  return mapping;
}
