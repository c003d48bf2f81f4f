/* Reads and parses files of /proc and of cgroups without allocating. See kernel.h. */
#include "platform/kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "platform/system_calls.h"

#define UNKNOWN UINT64_MAX
/* A limit of at least this number of bytes means "no limit". A cgroup of version 1 without a limit reports the
 * largest 63-bit multiple of the page size. */
#define NO_LIMIT ((uint64_t)INT64_MAX - ((uint64_t)1 << 20))

/* ---- Text files of the kernel ------------------------------------------------------------------------- */

size_t kernel_text(const char *path, char *text, size_t capacity) {
  size_t length = 0;
  int file = call_open(path, O_RDONLY);
  if (file >= 0) {
    ssize_t more;
    while (length < capacity - 1 && (more = call_read(file, text + length, capacity - 1 - length)) > 0) {
      length += (size_t)more;
    }
    call_close(file);
  }
  text[length] = '\0';
  return length;
}

/* Reads a file of any length line by line. A line that does not fit `text` is skipped. */
struct lines {
  int file;
  bool passes_over;
  size_t begin, end;
  char text[4096];
};

static char *next_line(struct lines *lines) {
  for (;;) {
    char *line = lines->text + lines->begin, *end = memchr(line, '\n', lines->end - lines->begin);
    if (end) {
      bool fits = !lines->passes_over;
      *end = '\0';
      lines->begin = (size_t)(end + 1 - lines->text);
      lines->passes_over = false;
      if (fits) return line;
      continue;
    }
    lines->end -= lines->begin;
    lines->begin = 0;
    memmove(lines->text, line, lines->end);
    if (lines->end == sizeof lines->text) {
      lines->passes_over = true;
      lines->end = 0;
    }
    ssize_t more =
        lines->file < 0 ? 0 : call_read(lines->file, lines->text + lines->end, sizeof lines->text - lines->end);
    if (more <= 0) return NULL;
    lines->end += (size_t)more;
  }
}

/* Returns UNKNOWN if there is no number, as in "max". */
static uint64_t number_at(const char *text) {
  uint64_t number = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) {
    if (__builtin_mul_overflow(number, (uint64_t)10, &number)) return UNKNOWN;
    if (__builtin_add_overflow(number, (uint64_t)(*at - '0'), &number)) return UNKNOWN;
  }
  return at == text ? UNKNOWN : number;
}

/* The table has lines "name number". */
static uint64_t number_of(const char *table, const char *name) {
  size_t length = strlen(name);
  for (const char *line = table; line && *line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, name, length) == 0 && line[length] == ' ') return number_at(line + length + 1);
  }
  return UNKNOWN;
}

static const char *next_word(const char *text) {
  const char *space = strchr(text, ' ');
  return space ? space + 1 : NULL;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- The process and the machine ---------------------------------------------------------------------- */

/* The fields of statm are numbers of pages, see proc(5): size resident shared text lib data dirty */
struct process_memory process_memory(void) {
  enum { SIZE = 0, RESIDENT = 1, SHARED = 2, DATA = 5, FIELDS };
  uint64_t bytes[FIELDS];
  char text[160];
  kernel_text("/proc/self/statm", text, sizeof text);
  const char *field = text;
  for (int i = 0; i < FIELDS; i++) {
    uint64_t pages = field ? number_at(field) : UNKNOWN;
    bytes[i] = pages == UNKNOWN ? UNKNOWN : pages * (uint64_t)getpagesize();
    field = field ? next_word(field) : NULL;
  }
  uint64_t resident = bytes[RESIDENT], shared = bytes[SHARED];
  return (struct process_memory){.addresses = bytes[SIZE],
                                 .resident = resident,
                                 .anonymous = resident == UNKNOWN || shared > resident ? UNKNOWN : resident - shared,
                                 .data = bytes[DATA]};
}

uint64_t process_swapped_bytes(void) {
  static const char name[] = "VmSwap:";
  struct lines status = {.file = call_open("/proc/self/status", O_RDONLY)};
  uint64_t kibibytes = UNKNOWN;
  for (const char *line; kibibytes == UNKNOWN && (line = next_line(&status));) {
    if (strncmp(line, name, sizeof name - 1) != 0) continue;
    line += sizeof name - 1;
    kibibytes = number_at(line + strspn(line, " \t"));
  }
  if (status.file >= 0) call_close(status.file);
  return kibibytes == UNKNOWN ? UNKNOWN : kibibytes << 10;
}

bool process_is_traced(void) {
  static const char name[] = "TracerPid:\t";
  char text[1536];
  if (!kernel_text("/proc/self/status", text, sizeof text)) return true;
  const char *tracer = strstr(text, name);
  return !tracer || tracer[sizeof name - 1] != '0';
}

/* Returns a number of /proc/self/stat, 0 if it is unknown. Fields are counted from 1. Field 2 is in parentheses and may
 * contain any characters, so the others are found from the last closing parenthesis. */
static uint64_t field_of_process(int wanted) {
  char text[1024];
  kernel_text("/proc/self/stat", text, sizeof text);
  const char *at = strrchr(text, ')');
  for (int field = 2; at && field < wanted; field++) at = next_word(at);
  uint64_t number = at ? number_at(at) : UNKNOWN;
  return number == UNKNOWN ? 0 : number;
}

uint64_t process_start_ticks(void) { return field_of_process(22); }

uintptr_t process_heap_begin(void) { return (uintptr_t)field_of_process(47); }

void machine_run_id(char *id, size_t capacity) {
  size_t length = kernel_text("/proc/sys/kernel/random/boot_id", id, capacity);
  if (length && id[length - 1] == '\n') id[length - 1] = '\0';
}

/* Makes the system call itself, because older C libraries lack getrandom(). */
bool random_bytes(void *to, size_t bytes) { return syscall(SYS_getrandom, to, bytes, GRND_NONBLOCK) == (long)bytes; }

/* ---- The cgroup --------------------------------------------------------------------------------------- */

/* The list is separated by commas and ends at ':', '\n' or the text's end. */
static bool list_contains(const char *list, const char *word) {
  size_t length = strlen(word);
  while (*list && *list != ':' && *list != '\n') {
    size_t item = strcspn(list, ",:\n");
    if (item == length && strncmp(list, word, length) == 0) return true;
    list += item;
    list += *list == ',';
  }
  return false;
}

/* Copies the path of this process's memory cgroup from lines "number:controllers:path". Returns the version of
 * cgroups, 1 or 2; 0 if there is no path. */
static int find_in_hierarchy(char *relative, size_t capacity) {
  char text[4096];
  kernel_text("/proc/self/cgroup", text, sizeof text);
  const char *found = NULL;
  int version = 0;
  for (const char *line = text; line && *line; line = strchr(line, '\n')) {
    line += *line == '\n';
    const char *controllers = strchr(line, ':');
    const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) break;
    bool of_version_1 = list_contains(controllers + 1, "memory");
    if (of_version_1 || (version == 0 && strncmp(line, "0::", 3) == 0)) {
      found = path + 1;
      version = of_version_1 ? 1 : 2;
    }
  }
  if (!found || strcspn(found, "\n") >= capacity) return 0;
  memcpy(relative, found, strcspn(found, "\n"));
  relative[strcspn(found, "\n")] = '\0';
  return version;
}

/* Ends the field by a NUL. Returns the text of the next field; NULL if this is the line's last field. */
static char *next_field(char *field) {
  char *space = strchr(field, ' ');
  if (!space) return NULL;
  *space = '\0';
  return space + 1;
}

static bool begins_with_directory(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* A container without a cgroup namespace has the host's path in /proc/self/cgroup, but mounts only the part of the
 * hierarchy below `root`. The result is therefore the path without `root`. */
static const char *path_below(const char *relative, const char *root) {
  if (strcmp(root, "/") == 0) return relative;
  return begins_with_directory(relative, root) ? relative + strlen(root) : "";
}

/* Parses a line of mountinfo, see proc(5): id parent device root mount options [optional ...] - type source options */
static void look_at_mount(char *line, int version, const char *relative, struct memory_cgroup *cgroup) {
  char *fields[6];
  char *at = line;
  for (int i = 0; i < 6; i++) {
    if (!at) return;
    fields[i] = at;
    at = next_field(at);
  }
  char *separator = at;
  while (separator && strncmp(separator, "- ", 2) != 0) separator = next_field(separator);
  if (!separator) return;
  char *type = separator + 2, *source = next_field(type), *options = source ? next_field(source) : NULL;
  if (!options) return;
  bool right =
      version == 2 ? strcmp(type, "cgroup2") == 0 : strcmp(type, "cgroup") == 0 && list_contains(options, "memory");
  if (!right) return;
  const char *inside = path_below(relative, fields[3]);
  if (strcmp(inside, "/") == 0 || strstr(inside, "/..")) inside = "";
  int length = snprintf(cgroup->path, sizeof cgroup->path, "%s%s", fields[4], inside);
  if (length < 0 || (size_t)length >= sizeof cgroup->path) return;
  cgroup->mount_length = strlen(fields[4]);
  cgroup->version = version;
}

void memory_cgroup_find(struct memory_cgroup *cgroup) {
  cgroup->version = 0;
  char relative[sizeof cgroup->path];
  int version = find_in_hierarchy(relative, sizeof relative);
  if (!version) return;
  struct lines mounts = {.file = call_open("/proc/self/mountinfo", O_RDONLY)};
  for (char *line; (line = next_line(&mounts));) look_at_mount(line, version, relative, cgroup);
  if (mounts.file >= 0) call_close(mounts.file);
}

/* ---- Mounts -------------------------------------------------------------------------------------------- */

bool mount_of_file(int file, uint64_t *mount) {
  char path[40], text[512];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
  kernel_text(path, text, sizeof text);
  const char *found = strstr(text, "mnt_id:");
  *mount = found ? number_at(found + strlen("mnt_id:") + strspn(found + strlen("mnt_id:"), "\t ")) : UNKNOWN;
  return *mount != UNKNOWN;
}

void mount_type(uint64_t mount, char *type, size_t capacity) {
  struct lines mounts = {.file = call_open("/proc/self/mountinfo", O_RDONLY)};
  *type = '\0';
  for (const char *line; !*type && (line = next_line(&mounts));) {
    const char *found = number_at(line) == mount ? strstr(line, " - ") : NULL;
    if (found) snprintf(type, capacity, "%.*s", (int)strcspn(found + 3, " "), found + 3);
  }
  if (mounts.file >= 0) call_close(mounts.file);
}

/* ---- Figures ------------------------------------------------------------------------------------------ */

static size_t cgroup_file(const struct memory_cgroup *cgroup, size_t path_length, const char *name, char *text,
                          size_t capacity) {
  char path[sizeof cgroup->path + 40];
  snprintf(path, sizeof path, "%.*s/%s", (int)path_length, cgroup->path, name);
  return kernel_text(path, text, capacity);
}

static uint64_t cgroup_number(const struct memory_cgroup *cgroup, size_t path_length, const char *name) {
  char text[64];
  cgroup_file(cgroup, path_length, name, text, sizeof text);
  return number_at(text);
}

uint64_t memory_charged(const struct memory_cgroup *cgroup) {
  const char *name = cgroup->version == 2 ? "memory.current" : "memory.usage_in_bytes";
  return cgroup->version ? cgroup_number(cgroup, strlen(cgroup->path), name) : UNKNOWN;
}

void memory_read(const struct memory_cgroup *cgroup, struct memory_reading *reading) {
  char text[1024];
  reading->resident_bytes = process_memory().resident;
  reading->charged_bytes = memory_charged(cgroup);
  reading->oom_kills = UNKNOWN;
  if (!cgroup->version) return;
  bool second_version = cgroup->version == 2;
  size_t length = strlen(cgroup->path);
  cgroup_file(cgroup, length, second_version ? "memory.events" : "memory.oom_control", text, sizeof text);
  reading->oom_kills = number_of(text, "oom_kill");
}

/*
 * Returns the bytes of cached files without shared memory: the number in the line `files` of memory.stat minus the
 * number in the line shmem. If memory.stat lacks one of these two lines, returns the bytes of inactive files
 * (inactive_file). The names of the lines shmem and inactive_file begin with `prefix`, which is empty in version 2 of
 * cgroups.
 */
static uint64_t cached_files(const char *stat, const char *prefix, const char *files) {
  char shared[24], inactive[24];
  snprintf(shared, sizeof shared, "%sshmem", prefix);
  snprintf(inactive, sizeof inactive, "%sinactive_file", prefix);
  uint64_t all = number_of(stat, files), kept = number_of(stat, shared);
  if (all == UNKNOWN || kept == UNKNOWN) return number_of(stat, inactive);
  return all > kept ? all - kept : 0;
}

void memory_read_rest(const struct memory_cgroup *cgroup, struct memory_reading *reading) {
  reading->limit_bytes = reading->file_bytes = UNKNOWN;
  if (!cgroup->version) return;
  char stat[8192];
  size_t length = strlen(cgroup->path);
  cgroup_file(cgroup, length, "memory.stat", stat, sizeof stat);
  if (cgroup->version == 1) {
    reading->file_bytes = cached_files(stat, "total_", "total_cache");
    uint64_t limit =
        smaller(cgroup_number(cgroup, length, "memory.limit_in_bytes"), number_of(stat, "hierarchical_memory_limit"));
    reading->limit_bytes = limit >= NO_LIMIT ? UNKNOWN : limit;
    return;
  }
  reading->file_bytes = cached_files(stat, "", "file");
  /* The lowest limit from this directory up to the mount point applies. */
  for (;;) {
    reading->limit_bytes = smaller(reading->limit_bytes, cgroup_number(cgroup, length, "memory.max"));
    if (length <= cgroup->mount_length) break;
    while (length > cgroup->mount_length && cgroup->path[length - 1] != '/') length--;
    if (length > cgroup->mount_length) length--;
  }
}
