/* Walks a stack frame by frame. The rule that leads from a frame to its caller (frame_rule.h) is cached. Memory is
 * read only after a check that it is readable. See native_stack.h. */
#include "sample/native_stack.h"

#include <stddef.h>

#include "platform/keep_errno.h"
#include "platform/loaded_objects.h"
#include "platform/readable_memory.h"
#include "sample/frame_rule.h"
#include "sample/work.h"

#define REHEARSED_FRAMES 16
#define LARGEST_UNKNOWN_STACK ((uintptr_t)1 << 20)

static enum unwinding unwinding;
static bool objects_are_known;
static bool kernel_tells; /* whether a system call reports which memory is readable; a sandbox may forbid it */

/* ---- Readable memory ---------------------------------------------------------------------------------- */

/* The memory from `begin` to `end` is known to be readable. Each page from `end` to `limit` is tested before its
 * first read. */
struct readable {
  uintptr_t begin, end, limit;
};

static struct readable readable_stack(uintptr_t stack) {
  uintptr_t begin = page_of(stack);
  struct own_stack own;
  if (own_stack_at(stack, &own)) return (struct readable){begin, own.end, own.end};
  return (struct readable){begin, begin + SMALLEST_PAGE,
                           begin + (kernel_tells ? LARGEST_UNKNOWN_STACK : SMALLEST_PAGE)};
}

static __attribute__((noinline)) bool extend_readable(struct readable *stack, uintptr_t end) {
  while (stack->end < end && stack->end < stack->limit) {
    if (!page_is_readable(stack->end)) {
      stack->limit = stack->end;
      return false;
    }
    stack->end += SMALLEST_PAGE;
  }
  return end <= stack->end;
}

static inline __attribute__((always_inline)) bool read_word(struct readable *stack, uintptr_t address,
                                                            uintptr_t *word) {
  if (address % sizeof *word != 0 || address < stack->begin || address > stack->limit - sizeof *word) return false;
  if (address + sizeof *word > stack->end && !extend_readable(stack, address + sizeof *word)) return false;
  *word = *(const uintptr_t *)address;
  return true;
}

/* ---- The cache of rules ------------------------------------------------------------------------------- */

/*
 * A cached rule, packed into one word, and its key. The key combines the return address, the rule, and the address of
 * the object's unwind table. If two threads write different rules to one entry at the same time, one thread's key may
 * remain with the other thread's rule. Such an entry matches no address, because the key contains the rule. The table's
 * address is in the key so that the rule of an unloaded library does not match another library in its place.
 */
#define REMEMBERED_RULES 4096u

static struct {
  uint64_t key;
  uint64_t rule;
} remembered[REMEMBERED_RULES];

#define FRAME_BITS 25 /* the bits of cfa_offset */
#define SAVED_BITS 17 /* the bits of saved_offset, and of return_offset */
/* The packed value for an address without a rule, where a walk ends. The value is cached, too, because nearly all
 * stacks end at the same few addresses. */
#define NO_RULE ((uint64_t)1 << 62)

static uint64_t pack_offset(int32_t offset, unsigned bits) { return (uint32_t)offset & (((uint32_t)1 << bits) - 1); }

static int32_t unpack_offset(uint64_t packed, unsigned bits) {
  return (int32_t)((uint32_t)packed << (32 - bits)) >> (32 - bits);
}

static bool fits(int32_t offset, unsigned bits) { return offset == unpack_offset(pack_offset(offset, bits), bits); }

static bool can_be_packed(const struct frame_rule *rule) {
  return fits(rule->cfa_offset, FRAME_BITS) && fits(rule->saved_offset, SAVED_BITS) &&
         fits(rule->return_offset, SAVED_BITS);
}

static uint64_t pack(const struct frame_rule *rule) {
  return (uint64_t)1 << 63 | (uint64_t)rule->base << 61 | (uint64_t)rule->saved << 59 |
         pack_offset(rule->cfa_offset, FRAME_BITS) << 2 * SAVED_BITS |
         pack_offset(rule->saved_offset, SAVED_BITS) << SAVED_BITS | pack_offset(rule->return_offset, SAVED_BITS);
}

static void unpack(uint64_t packed, struct frame_rule *rule) {
  rule->base = (enum frame_base)(packed >> 61 & 3);
  rule->saved = (enum saved_frame_pointer)(packed >> 59 & 3);
  rule->cfa_offset = unpack_offset(packed >> 2 * SAVED_BITS, FRAME_BITS);
  rule->saved_offset = unpack_offset(packed >> SAVED_BITS, SAVED_BITS);
  rule->return_offset = unpack_offset(packed, SAVED_BITS);
}

static uint64_t *place_of(uintptr_t pc) { return &remembered[pc * 0x9e3779b97f4a7c15u >> 52].key; }

/* Finds the rule of an address. If the object was unloaded, `object` becomes empty. */
static bool rule_at(uintptr_t pc, struct loaded_object *object, struct frame_rule *rule, uint32_t *work) {
  uint64_t key = (uint64_t)pc ^ (uint64_t)(uintptr_t)object->unwind_table << 20;
  uint64_t *place_of_key = place_of(pc);
  uint64_t *place_of_rule = place_of_key + 1;
  /* A key contains its rule, so a key and a rule of different entries do not match. The two loads therefore need no
   * order. */
  uint64_t packed = __atomic_load_n(place_of_rule, __ATOMIC_RELAXED);
  if (packed && __atomic_load_n(place_of_key, __ATOMIC_RELAXED) == (key ^ packed)) {
    unpack(packed, rule);
    return packed != NO_RULE;
  }
  *work += WORK_RULE;
  if (!loaded_object_remains(object)) {
    *object = (struct loaded_object){0};
    return false;
  }
  bool found = frame_rule_at(pc, object, rule);
  if (found && !can_be_packed(rule)) return true;
  packed = found ? pack(rule) : NO_RULE;
  __atomic_store_n(place_of_key, key ^ packed, __ATOMIC_RELAXED);
  __atomic_store_n(place_of_rule, packed, __ATOMIC_RELAXED);
  return found;
}

/* ---- Walking ------------------------------------------------------------------------------------------ */

/* Finds the loaded object that contains a call. Searches for the byte before the return address, because a call can
 * be the last instruction of its function. */
static bool find_object_of(uintptr_t return_address, struct loaded_object *object) {
  uintptr_t address = return_address - 1;
  return (address >= object->begin && address < object->end) || loaded_object_at(address, object);
}

static bool leave_frame(struct readable *stack, struct registers *r, struct loaded_object *object, uint32_t *work) {
  struct frame_rule rule;
  if (!rule_at(r->pc - 1, object, &rule, work)) return false;
  uintptr_t base = rule.base == BASE_STACK_POINTER ? r->stack_pointer : r->frame_pointer;
  uintptr_t frame = base + (uintptr_t)(intptr_t)rule.cfa_offset;
  if (rule.base == BASE_AT_FRAME_POINTER && !read_word(stack, frame, &frame)) return false;
  if (frame <= r->stack_pointer || !read_word(stack, frame + (uintptr_t)(intptr_t)rule.return_offset, &r->pc))
    return false;
  r->pc = without_signature(r->pc);
  uintptr_t saved_at =
      (rule.saved == SAVED_AT_FRAME ? frame : r->frame_pointer) + (uintptr_t)(intptr_t)rule.saved_offset;
  if (rule.saved != SAVED_NOWHERE && !read_word(stack, saved_at, &r->frame_pointer)) return false;
  r->stack_pointer = frame;
  return true;
}

static uint32_t walk_by_tables(struct readable *stack, struct registers r, uint64_t *frames, uint32_t capacity,
                               struct registers *caller, uint32_t *work) {
  struct loaded_object object = {0};
  uint32_t count = 0;
  while (find_object_of(r.pc, &object)) {
    if (count == capacity) return count;
    frames[count] = r.pc;
    bool left = leave_frame(stack, &r, &object, work);
    if (object.end == 0) break;
    count++;
    if (!left) return count;
  }
  *caller = r;
  return count;
}

/* Follows frame pointers. A frame begins with the frame pointer of the caller and the return address, and frames of
 * callers are at higher addresses. */
static uint32_t walk_by_frame_pointers(struct readable *stack, struct registers r, uint64_t *frames,
                                       uint32_t capacity) {
  struct loaded_object object = {0};
  uint32_t count = 0;
  while (count < capacity && r.pc != 0 && (!objects_are_known || find_object_of(r.pc, &object))) {
    frames[count++] = r.pc;
    uintptr_t frame = r.frame_pointer;
    if (frame < r.stack_pointer || !read_word(stack, frame, &r.frame_pointer)) break;
    if (!read_word(stack, frame + sizeof frame, &r.pc)) break;
    r.pc = without_signature(r.pc);
    r.stack_pointer = frame + 2 * sizeof frame;
  }
  return count;
}

static bool kernel_tells_what_is_readable(void) {
  volatile char here = 0;
  return page_is_readable(page_of((uintptr_t)&here)) && !page_is_readable(0);
}

enum unwinding native_stack_start(enum unwinding wanted) {
  own_stacks_start();
  kernel_tells = kernel_tells_what_is_readable();
  objects_are_known = loaded_objects_start(kernel_tells);
  if (wanted == UNWIND_BY_TABLES && !(UNWIND_TABLES_ARE_KNOWN && objects_are_known)) wanted = UNWIND_BY_FRAME_POINTERS;
  return unwinding = wanted;
}

uint32_t native_stack(struct origin origin, uint64_t *frames, uint32_t capacity, struct registers *caller,
                      uint32_t *work) {
  /* The walk begins at the program's call, so that it skips the library's own frames. */
  struct registers here = registers_of_caller(origin.caller, origin.stack);
  return native_stack_at(here, frames, capacity, caller, work);
}

uint32_t native_stack_at(struct registers here, uint64_t *frames, uint32_t capacity, struct registers *caller,
                         uint32_t *work) {
  struct registers end = {0};
  if (caller) *caller = end;
  if (unwinding == UNWIND_OFF || capacity == 0) return 0;
  KEEP_ERRNO;
  struct readable stack = readable_stack(here.stack_pointer);
  uint32_t count = unwinding == UNWIND_BY_TABLES ? walk_by_tables(&stack, here, frames, capacity, &end, work)
                                                 : walk_by_frame_pointers(&stack, here, frames, capacity);
  *work += count * WORK_FRAME;
  if (caller) *caller = end;
  return count;
}

uint32_t native_stack_rehearse(void) {
  uint64_t frames[REHEARSED_FRAMES];
  struct origin here = {__builtin_return_address(0), __builtin_dwarf_cfa()};
  uint32_t work = 0;
  if (!stack_has_room(here.stack, ROOM_FOR_NATIVE_STACK)) return 0;
  __atomic_store_n(place_of((uintptr_t)here.caller - 1), 0, __ATOMIC_RELAXED);
  native_stack(here, frames, REHEARSED_FRAMES, NULL, &work);
  return work;
}
