/* Parses /proc/self/maps without allocating by malloc. See mappings.h. */
#include "platform/mappings.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/memory.h"
#include "platform/sorted.h"
#include "platform/system_calls.h"

/* The maximum number of mappings that are read. The default limit (vm.max_map_count) is 65,530; database
 * installations raise it to 262,144. */
#define MOST_ROWS ((size_t)262144)

/* A parser of lines "begin-end rwxp offset device inode name", see proc(5). Device and inode are 0 if there is no
 * file. `name` has only the beginning of the name. */
struct parser {
  struct mappings *mappings;
  struct mapping row;
  enum { BEGIN, END, PROTECTION, OFFSET, DEVICE, INODE, NAME } part;
  char name[16];
  size_t length;
};

static bool begins_with(const char *name, const char *begin) { return strncmp(name, begin, strlen(begin)) == 0; }

/* Returns whether the file is a device. Files such as those in /dev/shm are memory. */
static bool is_device(const char *name) {
  if (begins_with(name, "anon_inode:") || begins_with(name, "/sys/") || begins_with(name, "/dmabuf")) return true;
  return begins_with(name, "/dev/") && !begins_with(name, "/dev/shm/") && !begins_with(name, "/dev/zero") &&
         !begins_with(name, "/dev/hugepages/");
}

static bool add(struct mappings *mappings, const struct mapping *row) {
  struct mapping *last = mappings->count > 0 ? &mappings->rows[mappings->count - 1] : NULL;
  if (last && last->end == row->begin && last->protection == row->protection &&
      last->is_anonymous == row->is_anonymous && last->is_shared == row->is_shared &&
      last->is_device == row->is_device) {
    last->end = row->end;
    return true;
  }
  if (mappings->count == MOST_ROWS) return false;
  mappings->rows[mappings->count++] = *row;
  return true;
}

static uintptr_t with_digit(uintptr_t number, char digit) {
  return number << 4 | (uintptr_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static bool feed(struct parser *parser, char c) {
  struct mapping *row = &parser->row;
  if (c == '\n') {
    row->is_device = is_device(parser->name);
    bool added = add(parser->mappings, row);
    *parser = (struct parser){.mappings = parser->mappings};
    return added;
  }
  switch (parser->part) {
    case BEGIN:
      if (c == '-') {
        parser->part = END;
      } else {
        row->begin = with_digit(row->begin, c);
      }
      break;
    case END:
      if (c == ' ') {
        parser->part = PROTECTION;
      } else {
        row->end = with_digit(row->end, c);
      }
      break;
    case PROTECTION:
      if (c == 'r') row->protection |= PROT_READ;
      if (c == 'w') row->protection |= PROT_WRITE;
      if (c == 'x') row->protection |= PROT_EXEC;
      if (c == 'p') row->is_anonymous = true;
      if (c == 's') row->is_shared = true;
      if (c == ' ') parser->part = OFFSET;
      break;
    case OFFSET:
      if (c == ' ') parser->part = DEVICE;
      break;
    case DEVICE:
      if (c == ' ') parser->part = INODE;
      if (c != '0' && c != ':' && c != ' ') row->is_anonymous = false;
      break;
    case INODE:
      if (c == ' ') parser->part = NAME;
      if (c != '0' && c != ' ') row->is_anonymous = false;
      break;
    case NAME:
      if ((c != ' ' || parser->length > 0) && parser->length < sizeof parser->name - 1)
        parser->name[parser->length++] = c;
      break;
  }
  return true;
}

static bool read_all(int file, struct mappings *mappings) {
  struct parser parser = {.mappings = mappings};
  char text[4096];
  ssize_t length;
  while ((length = call_read(file, text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < length; i++) {
      if (!feed(&parser, text[i])) {
        errno = ENOMEM;
        return false;
      }
    }
  }
  if (length == 0 && mappings->count == 0) errno = ENODATA;
  return length == 0 && mappings->count > 0;
}

bool mappings_read(struct mappings *mappings) {
  *mappings = (struct mappings){memory_map(NULL, MOST_ROWS * sizeof *mappings->rows), 0};
  if (!mappings->rows) return false;
  int file = call_open("/proc/self/maps", O_RDONLY);
  bool complete = file >= 0 && read_all(file, mappings);
  int error = errno;
  if (file >= 0) call_close(file);
  if (!complete) mappings_forget(mappings);
  errno = error;
  return complete;
}

void mappings_forget(struct mappings *mappings) {
  memory_unmap(mappings->rows, MOST_ROWS * sizeof *mappings->rows);
  *mappings = (struct mappings){0};
}

int mappings_protection(const struct mappings *mappings, uintptr_t address) {
  size_t behind = rows_up_to(mappings->rows, mappings->count, sizeof *mappings->rows, address);
  return behind > 0 && address < mappings->rows[behind - 1].end ? mappings->rows[behind - 1].protection : -1;
}

bool mapping_is_readable(const struct mapping *mapping) { return mapping->protection & PROT_READ; }

bool mapping_is_writable(const struct mapping *mapping) { return mapping->protection & PROT_WRITE; }
