/* Finds the Java method whose call sites allocated most in a fast rise of memory. See burst_line.h. */
#include "control/burst_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/clock.h"
#include "sample/stack_tree.h"

#define SECOND UINT64_C(1000000000)
#define TENTH (SECOND / 10)
#define MIB (UINT64_C(1) << 20)
#define LEAST_BYTES (4 * MIB)
/* A method is named only if its growth is at least LEAST_BYTES and at least a quarter of the growth of memory. */
#define LEAST_PART 4u
#define DIGITS 16u
#define LONGEST_WORD 80u

struct word {
  const char *begin;
  size_t length;
};

/* The method of a stack frame. `words` has its class (as class files write it), name, source file and line number. */
struct method {
  struct word words[4];
  bool is_compiled; /* the JVM was compiling the method, not running it */
};

enum { CLASS, METHOD, SOURCE, LINE };

static bool begins_with(struct word word, const char *beginning) {
  size_t length = strlen(beginning);
  return word.length >= length && memcmp(word.begin, beginning, length) == 0;
}

static bool contains(struct word word, const char *text) { return memmem(word.begin, word.length, text, strlen(text)); }

static bool are_equal(struct word one, struct word other) {
  return one.length == other.length && memcmp(one.begin, other.begin, one.length) == 0;
}

static bool find(const char *names, uint64_t frame, struct method *method) {
  char digits[DIGITS + 1];
  snprintf(digits, sizeof digits, "%016" PRIx64, frame);
  for (const char *line = names; *line; line++) {
    const char *end = strchr(line, '\n');
    if (!end) return false;
    if (strncmp(line, digits, DIGITS) == 0 && line[DIGITS] == '\t') {
      const char *at = line + DIGITS + 1;
      for (unsigned i = 0; i <= LINE; i++) {
        method->words[i] = (struct word){at, strcspn(at, "\t\n")};
        at += method->words[i].length;
        at += *at == '\t';
      }
      method->is_compiled = is_compiled_frame(frame);
      return true;
    }
    line = end;
  }
  return false;
}

static bool is_plumbing(const struct method *method) {
  static const char *const jdk[] = {"Ljava/", "Ljavax/", "Ljdk/", "Lsun/", "Lcom/sun/", "["};
  for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++) {
    if (begins_with(method->words[CLASS], jdk[i])) return true;
  }
  return contains(method->words[CLASS], "$$Lambda") || contains(method->words[CLASS], "$Proxy");
}

/* Finds the innermost method outside of the JDK. Returns false at a frame without a known name, because that frame
 * may be outside of the JDK. */
static bool find_naming(const struct recording_grown *grown, const char *names, struct method *method) {
  for (uint32_t i = 0; i < grown->frames && i < RECORDING_MOST_FRAMES; i++) {
    if (!find(names, grown->stack[i], method)) return false;
    if (method->is_compiled || !is_plumbing(method)) return true;
  }
  return false;
}

/* Finds the method whose call sites grew most, and returns their growth in bytes; 0 if no method is known. */
static uint64_t find_largest(const struct recording_burst *burst, const char *names, struct method *largest) {
  struct method methods[RECORDING_MOST_SITES];
  uint64_t bytes[RECORDING_MOST_SITES], most = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < burst->sites && i < RECORDING_MOST_SITES; i++) {
    struct method method;
    if (!find_naming(&burst->grown[i], names, &method)) continue;
    uint32_t at = 0;
    while (at < count && !(methods[at].is_compiled == method.is_compiled &&
                           are_equal(methods[at].words[CLASS], method.words[CLASS]) &&
                           are_equal(methods[at].words[METHOD], method.words[METHOD]))) {
      at++;
    }
    if (at == count) {
      bytes[count] = 0;
      methods[count++] = method;
    }
    bytes[at] += burst->grown[i].live_bytes;
    if (bytes[at] > most) {
      most = bytes[at];
      *largest = methods[at];
    }
  }
  return most;
}

static struct word last_part(struct word word) {
  for (size_t i = word.length; i > 0; i--) {
    if (word.begin[i - 1] == '/') return (struct word){word.begin + i, word.length - i};
  }
  return word;
}

/* Returns "Cart" for "Lcom/shop/Cart;". */
static struct word simple_name(struct word class) {
  if (class.length > 2 && class.begin[0] == 'L') class = (struct word){class.begin + 1, class.length - 2};
  return last_part(class);
}

struct text {
  char *bytes;
  size_t length, capacity;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = text->capacity - text->length;
  int length = vsnprintf(text->bytes + text->length, room, format, arguments);
  va_end(arguments);
  if (length > 0) text->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void append_word(struct text *text, struct word word) {
  append(text, "%.*s", (int)(word.length < LONGEST_WORD ? word.length : LONGEST_WORD), word.begin);
}

static void append_method(struct text *text, const struct method *method) {
  append(text, "%s", method->is_compiled ? "compilation of " : "");
  append_word(text, simple_name(method->words[CLASS]));
  append(text, ".");
  append_word(text, method->words[METHOD]);
  struct word source = last_part(method->words[SOURCE]);
  if (source.length == 0 || method->is_compiled) return;
  append(text, " (");
  append_word(text, source);
  append(text, ":");
  append_word(text, method->words[LINE]);
  append(text, ")");
}

void burst_line(const struct recording_burst *burst, const char *names, char *to, size_t capacity) {
  struct text text = {to, 0, capacity};
  struct method method;
  uint64_t risen = burst->charged_bytes > burst->begin_bytes ? burst->charged_bytes - burst->begin_bytes : 0;
  uint64_t bytes = find_largest(burst, names, &method);
  uint64_t now = monotonic_ns(), begin = burst->begin_monotonic_ns;
  uint64_t tenths = now > begin ? (now - begin) / TENTH : 0;
  if (tenths == 0) tenths = 1;
  append(&text, "in the last %" PRIu64 ".%" PRIu64 " s ", tenths / 10, tenths % 10);
  if (bytes < LEAST_BYTES || bytes < risen / LEAST_PART) {
    append(&text, "memory grew by %" PRIu64 " MiB", risen / MIB);
    return;
  }
  append_method(&text, &method);
  append(&text, " allocated %" PRIu64 " MiB", bytes / MIB);
}
