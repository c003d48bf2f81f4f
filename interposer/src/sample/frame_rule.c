/*
 * Finds and executes the call frame information of a function. See frame_rule.h.
 *
 * Each loaded object has a table of its functions, sorted by address. The table leads to a description of the function
 * (FDE), which begins with a part that several functions share (CIE). Both parts contain operations (DW_CFA_*), which
 * say for each instruction of the function where the saved registers are. All reads are checked against the object's
 * bounds, so damaged information only makes the stack shorter.
 */
#include "sample/frame_rule.h"

#include <string.h>

#include "platform/arch.h"

/* ---- Reading ------------------------------------------------------------------------------------------ */

struct reader {
  const uint8_t *at;
  const uint8_t *end;
  bool failed;
};

static void fail(struct reader *r) {
  r->failed = true;
  r->at = r->end;
}

static uint64_t read_number(struct reader *r, size_t bytes) {
  uint64_t value = 0;
  if ((size_t)(r->end - r->at) < bytes) {
    fail(r);
    return 0;
  }
  memcpy(&value, r->at, bytes); /* The data is little-endian. */
  r->at += bytes;
  return value;
}

static uint8_t read_byte(struct reader *r) { return (uint8_t)read_number(r, 1); }

static uint64_t read_uleb(struct reader *r) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !r->failed; shift += 7) {
    uint8_t byte = read_byte(r);
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  fail(r);
  return 0;
}

static int64_t read_sleb(struct reader *r) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !r->failed;) {
    uint8_t byte = read_byte(r);
    value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (byte & 0x80) continue;
    if (byte & 0x40 && shift < 64) value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
  }
  fail(r);
  return 0;
}

static void skip(struct reader *r, uint64_t bytes) {
  if (bytes > (uint64_t)(r->end - r->at)) {
    fail(r);
  } else {
    r->at += bytes;
  }
}

/* The encoding of a pointer: the lower half of the byte is the format, the upper half the base. */
enum {
  ABSOLUTE = 0x00,
  UNSIGNED_4 = 0x03,
  SIGNED_4 = 0x0b,
  SIGNED_8 = 0x0c,
  FORMAT = 0x0f,
  TO_PLACE = 0x10,
  TO_TABLE = 0x30
};

static size_t width_of(uint8_t encoding) {
  uint8_t format = encoding & FORMAT;
  return format == UNSIGNED_4 || format == SIGNED_4 ? 4 : 8;
}

static uint64_t read_encoded(struct reader *r, uint8_t encoding) {
  uintptr_t place = (uintptr_t)r->at;
  uint64_t value = read_number(r, width_of(encoding));
  switch (encoding & FORMAT) {
    case SIGNED_4:
      value = (uint64_t)(int64_t)(int32_t)value;
      break;
    case ABSOLUTE:
    case UNSIGNED_4:
    case SIGNED_8:
      break;
    default:
      fail(r);
  }
  if ((encoding & 0x70) == TO_PLACE) return value + place;
  if (encoding & 0x70) fail(r);
  return value;
}

static bool open_record(const struct loaded_object *object, uintptr_t address, struct reader *record) {
  if (address < object->begin || address >= object->end) return false;
  *record = (struct reader){(const uint8_t *)address, (const uint8_t *)object->end, false};
  uint64_t length = read_number(record, 4);
  if (record->failed || length == 0 || length > (uint64_t)(record->end - record->at)) return false;
  record->end = record->at + length;
  return true;
}

/* ---- Finding the function ----------------------------------------------------------------------------- */

struct entry {
  int32_t function; /* Relative to the beginning of the table, like `description`. */
  int32_t description;
};

static uintptr_t description_of(uintptr_t pc, const struct loaded_object *object) {
  const uint8_t *table = object->unwind_table;
  uintptr_t begin = (uintptr_t)table;
  if (!table || begin < object->begin || begin + 12 > object->end) return 0;
  if (table[0] != 1 || table[1] != (TO_PLACE | SIGNED_4) || table[2] != UNSIGNED_4 ||
      table[3] != (TO_TABLE | SIGNED_4)) {
    return 0;
  }
  uint32_t count;
  memcpy(&count, table + 8, sizeof count);
  if (count > (object->end - begin - 12) / sizeof(struct entry)) return 0;
  const struct entry *entries = (const struct entry *)(const void *)(table + 12);
  int64_t wanted = (int64_t)(pc - begin);
  uint32_t low = 0, high = count; /* The index of the last function at or below `wanted` is in [low - 1, high). */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (entries[middle].function <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 ? begin + (uintptr_t)(intptr_t)entries[low - 1].description : 0;
}

/* ---- Executing the operations DW_CFA_* ---------------------------------------------------------------- */

enum where { UNTOUCHED, AT_FRAME, AT_FRAME_POINTER, LOST };

struct saved {
  enum where where;
  int64_t offset;
};

struct row {
  /* The register on which the frame address is based; -1 for an unsupported expression. */
  int64_t cfa_register;
  int64_t cfa_offset;
  bool cfa_is_loaded;
  struct saved frame_pointer;
  struct saved return_address;
};

enum { REMEMBERED = 8 };

struct machine {
  struct row row;
  struct row at_entry;
  struct row remembered[REMEMBERED];
  unsigned depth;
  uint64_t location;
  uint64_t code_unit;
  int64_t data_unit;
  uint8_t pointer_encoding;
  bool signal_frame;
};

static void set_saved(struct machine *m, uint64_t number, enum where where, int64_t offset) {
  if (number == DWARF_FRAME_POINTER) m->row.frame_pointer = (struct saved){where, offset};
  if (number == DWARF_RETURN_ADDRESS) m->row.return_address = (struct saved){where, offset};
}

static void restore(struct machine *m, uint64_t number) {
  if (number == DWARF_FRAME_POINTER) m->row.frame_pointer = m->at_entry.frame_pointer;
  if (number == DWARF_RETURN_ADDRESS) m->row.return_address = m->at_entry.return_address;
}

/* The DWARF operations of the expressions that compilers write: "frame pointer + offset", and "the word at that
 * address". */
enum { OP_BASE_REGISTER = 0x70, OP_LOAD = 0x06 };

static void set_cfa_expression(struct machine *m, struct reader r) {
  m->row.cfa_register = -1;
  if (read_byte(&r) != OP_BASE_REGISTER + DWARF_FRAME_POINTER) return;
  int64_t offset = read_sleb(&r);
  if (read_byte(&r) != OP_LOAD || r.failed || r.at != r.end) return;
  m->row.cfa_register = DWARF_FRAME_POINTER;
  m->row.cfa_offset = offset;
  m->row.cfa_is_loaded = true;
}

static void set_saved_expression(struct machine *m, uint64_t number, struct reader r) {
  bool base = read_byte(&r) == OP_BASE_REGISTER + DWARF_FRAME_POINTER;
  int64_t offset = read_sleb(&r);
  bool understood = base && !r.failed && r.at == r.end;
  set_saved(m, number, understood ? AT_FRAME_POINTER : LOST, offset);
}

static struct reader read_block(struct reader *r) {
  uint64_t length = read_uleb(r);
  struct reader block = {r->at, r->at, r->failed};
  skip(r, length);
  block.end = r->at;
  block.failed |= r->failed;
  return block;
}

static void set_cfa(struct machine *m, int64_t number, int64_t offset) {
  m->row.cfa_register = number;
  m->row.cfa_offset = offset;
  m->row.cfa_is_loaded = false;
}

static int64_t in_data_units(struct machine *m, struct reader *r, int64_t operand) {
  int64_t product;
  if (!__builtin_mul_overflow(operand, m->data_unit, &product)) return product;
  fail(r);
  return 0;
}

/* Executes an operation DW_CFA_* whose upper two bits are 0. */
static void step(struct machine *m, uint8_t operation, struct reader *r) {
  uint64_t number;
  switch (operation) {
    case 0x00: /* nop */
      break;
    case 0x01: /* set_loc */
      m->location = read_encoded(r, m->pointer_encoding);
      break;
    case 0x02: /* advance_loc1 */
      m->location += m->code_unit * read_number(r, 1);
      break;
    case 0x03: /* advance_loc2 */
      m->location += m->code_unit * read_number(r, 2);
      break;
    case 0x04: /* advance_loc4 */
      m->location += m->code_unit * read_number(r, 4);
      break;
    case 0x05: /* offset_extended */
      number = read_uleb(r);
      set_saved(m, number, AT_FRAME, in_data_units(m, r, (int64_t)read_uleb(r)));
      break;
    case 0x06: /* restore_extended */
      restore(m, read_uleb(r));
      break;
    case 0x07: /* undefined */
      set_saved(m, read_uleb(r), LOST, 0);
      break;
    case 0x08: /* same_value */
      set_saved(m, read_uleb(r), UNTOUCHED, 0);
      break;
    case 0x09: /* register */
      number = read_uleb(r);
      read_uleb(r);
      set_saved(m, number, LOST, 0);
      break;
    case 0x0a: /* remember_state */
      if (m->depth == REMEMBERED) {
        fail(r);
      } else {
        m->remembered[m->depth++] = m->row;
      }
      break;
    case 0x0b: /* restore_state */
      if (m->depth == 0) {
        fail(r);
      } else {
        m->row = m->remembered[--m->depth];
      }
      break;
    case 0x0c: /* def_cfa */
      number = read_uleb(r);
      set_cfa(m, (int64_t)number, (int64_t)read_uleb(r));
      break;
    case 0x0d: /* def_cfa_register */
      set_cfa(m, (int64_t)read_uleb(r), m->row.cfa_offset);
      break;
    case 0x0e: /* def_cfa_offset */
      set_cfa(m, m->row.cfa_register, (int64_t)read_uleb(r));
      break;
    case 0x0f: /* def_cfa_expression */
      set_cfa_expression(m, read_block(r));
      break;
    case 0x10: /* expression */
      number = read_uleb(r);
      set_saved_expression(m, number, read_block(r));
      break;
    case 0x11: /* offset_extended_sf */
      number = read_uleb(r);
      set_saved(m, number, AT_FRAME, in_data_units(m, r, read_sleb(r)));
      break;
    case 0x12: /* def_cfa_sf */
      number = read_uleb(r);
      set_cfa(m, (int64_t)number, in_data_units(m, r, read_sleb(r)));
      break;
    case 0x13: /* def_cfa_offset_sf */
      set_cfa(m, m->row.cfa_register, in_data_units(m, r, read_sleb(r)));
      break;
    case 0x16: /* val_expression */
      number = read_uleb(r);
      read_block(r);
      set_saved(m, number, LOST, 0);
      break;
    case 0x2d: /* AARCH64_negate_ra_state: without_signature() recognizes signed addresses itself */
      break;
    case 0x2e: /* GNU_args_size */
      read_uleb(r);
      break;
    default:
      fail(r);
  }
}

static void run(struct machine *m, struct reader *program, uint64_t pc) {
  while (program->at < program->end && m->location <= pc) {
    uint8_t operation = read_byte(program);
    uint8_t low = operation & 0x3f;
    switch (operation >> 6) {
      case 1: /* advance_loc */
        m->location += m->code_unit * low;
        break;
      case 2: /* offset */
        set_saved(m, low, AT_FRAME, in_data_units(m, program, (int64_t)read_uleb(program)));
        break;
      case 3: /* restore */
        restore(m, low);
        break;
      default:
        step(m, operation, program);
    }
  }
}

/* ---- Descriptions ------------------------------------------------------------------------------------- */

/* Reads a CIE, which several functions' descriptions share, up to its instructions. */
static bool read_common(struct machine *m, struct reader *r) {
  if (read_number(r, 4) != 0) return false; /* 0 marks a CIE */
  uint8_t version = read_byte(r);
  const char *augmentation = (const char *)r->at;
  while (read_byte(r) != 0) {
    if (r->failed) return false;
  }
  m->code_unit = read_uleb(r);
  m->data_unit = read_sleb(r);
  uint64_t return_register = version == 1 ? read_byte(r) : read_uleb(r);
  if (r->failed || (version != 1 && version != 3) || return_register != DWARF_RETURN_ADDRESS) return false;
  if (*augmentation != 'z') return *augmentation == '\0';
  struct reader details = read_block(r);
  for (const char *c = augmentation + 1; *c; c++) {
    if (*c == 'R') {
      m->pointer_encoding = read_byte(&details);
    } else if (*c == 'P') {
      skip(&details, width_of(read_byte(&details)));
    } else if (*c == 'L') {
      read_byte(&details);
    } else if (*c == 'S') {
      m->signal_frame = true;
    } else if (*c != 'B' && *c != 'G') { /* B: return addresses are signed with key B. G: the stack is tagged memory. */
      return false;
    }
  }
  return !details.failed;
}

static bool row_at(uintptr_t pc, const struct loaded_object *object, struct row *row) {
  struct reader own, common;
  uintptr_t address = description_of(pc, object);
  if (!address || !open_record(object, address, &own)) return false;
  uintptr_t place = (uintptr_t)own.at;
  uint64_t distance = read_number(&own, 4);
  if (distance == 0 || distance > place - object->begin || !open_record(object, place - distance, &common))
    return false;

  struct machine m = {.row = {.cfa_register = -1}};
  const char *augmentation = (const char *)common.at + 5;
  if (!read_common(&m, &common) || m.signal_frame) return false;
  uint64_t begin = read_encoded(&own, m.pointer_encoding);
  uint64_t length = read_encoded(&own, m.pointer_encoding & FORMAT);
  if (own.failed || pc < begin || pc - begin >= length) return false;
  if (*augmentation == 'z') read_block(&own);

  run(&m, &common, UINT64_MAX);
  m.at_entry = m.row;
  m.location = begin;
  run(&m, &own, pc);
  *row = m.row;
  return !own.failed && !common.failed;
}

static bool is_of_32_bits(int64_t offset) { return offset >= INT32_MIN && offset <= INT32_MAX; }

bool frame_rule_at(uintptr_t pc, const struct loaded_object *object, struct frame_rule *rule) {
  struct row row;
  if (!row_at(pc, object, &row)) return false;
  if (row.return_address.where != AT_FRAME || row.return_address.offset >= 0) return false;
  if (row.cfa_register != DWARF_STACK_POINTER && row.cfa_register != DWARF_FRAME_POINTER) return false;
  if (!is_of_32_bits(row.cfa_offset) || !is_of_32_bits(row.frame_pointer.offset)) return false;
  if (!is_of_32_bits(row.return_address.offset)) return false;
  if (row.frame_pointer.where == LOST) return false;
  rule->base = row.cfa_register == DWARF_STACK_POINTER ? BASE_STACK_POINTER
               : row.cfa_is_loaded                     ? BASE_AT_FRAME_POINTER
                                                       : BASE_FRAME_POINTER;
  rule->saved = row.frame_pointer.where == AT_FRAME           ? SAVED_AT_FRAME
                : row.frame_pointer.where == AT_FRAME_POINTER ? SAVED_AT_FRAME_POINTER
                                                              : SAVED_NOWHERE;
  rule->cfa_offset = (int32_t)row.cfa_offset;
  rule->saved_offset = (int32_t)row.frame_pointer.offset;
  rule->return_offset = (int32_t)row.return_address.offset;
  return true;
}
