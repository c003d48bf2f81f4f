/* Checks the jar and the JVM, and changes JAVA_TOOL_OPTIONS. See java_agent.h. */
#include "control/java_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/log.h"
#include "platform/executable.h"
#include "platform/files.h"
#include "platform/libc.h"

#define VARIABLE "JAVA_TOOL_OPTIONS"
#define OPTION "-javaagent:"
#define LONGEST_OPTIONS 8192u
#define BLANKS " \t\n\v\f\r"

/* Returns whether the jar ends with the end record of a zip file. The record of a jar without a comment has 22
 * bytes. */
static bool is_whole_jar(int file) {
  static const char signature[4] = {'P', 'K', 5, 6};
  enum { END_RECORD = 22 };
  struct file_status status;
  char end[sizeof signature];
  return file_status(file, &status) && status.is_regular && status.bytes >= END_RECORD &&
         pread(file, end, sizeof end, (off_t)(status.bytes - END_RECORD)) == sizeof end &&
         memcmp(end, signature, sizeof end) == 0;
}

static const char *objection_to_jar(const char *jar) {
  int file = open(jar, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return strerror(errno);
  bool whole = is_whole_jar(file);
  close(file);
  return whole ? NULL : "the jar is incomplete";
}

/* Returns whether the program is a java launcher without the module java.instrument. jlink can make such a JVM. */
static bool cannot_instrument(void) {
  static const char *const folders[] = {"lib", "lib/amd64", "lib/aarch64", "jre/lib/amd64", "jre/lib/aarch64"};
  char buffer[1024], library[sizeof buffer + 64];
  const char *path = executable_path(buffer, sizeof buffer), *name = path ? strrchr(path, '/') : NULL;
  if (!name || strcmp(name, "/java") != 0) return false;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    snprintf(library, sizeof library, "%.*s/../%s/libinstrument%s", (int)(name - path), path, folders[i],
             library_suffix);
    if (access(library, R_OK) == 0) return false;
  }
  return true;
}

static bool contains_option(const char *options, const char *option) {
  size_t length = strlen(option);
  for (const char *at = options; at && (at = strstr(at, option)); at += length) {
    if (strchr(BLANKS "=", at[length])) return true; /* strchr also finds the terminating 0 */
  }
  return false;
}

void java_agent_append(const char *agent) {
  static char options[LONGEST_OPTIONS];
  char jar[1024];
  size_t length = strcspn(agent, "=");
  if (strpbrk(agent, BLANKS "\"'")) {
    log_line(LOG_WARN,
             "MALLOMETER_AGENT: " VARIABLE
             " cannot hold blanks and quotes; the agent is not started. Use a path and options without them.");
    return;
  }
  if (length >= sizeof jar) {
    log_line(LOG_WARN,
             "MALLOMETER_AGENT: the path is too long; the agent is not started. Move the jar to a path of less than "
             "%zu bytes.",
             sizeof jar);
    return;
  }
  memcpy(jar, agent, length);
  jar[length] = '\0';
  const char *objection = objection_to_jar(jar);
  if (objection) {
    log_line(LOG_WARN,
             "MALLOMETER_AGENT: %s: %s; the agent is not started. Name the agent's jar there, or unset the variable.",
             jar, objection);
    return;
  }
  if (cannot_instrument()) {
    log_line(LOG_WARN,
             "MALLOMETER_AGENT: this JVM lacks the module java.instrument; the agent is not started. Add it with jlink "
             "with --add-modules.");
    return;
  }
  const char *before = getenv(VARIABLE);
  int written =
      snprintf(options, sizeof options, "%s%s" OPTION "%s", before ? before : "", before && *before ? " " : "", agent);
  if (written < 0 || (size_t)written >= sizeof options) {
    log_line(LOG_WARN, VARIABLE
             " has no room for the agent's path; the agent is not started. Move JVM options from it to the "
             "command line.");
    return;
  }
  /* The option may be there already: a JVM that this one starts inherits the variable, and the launcher may execute
   * itself again. */
  char named[sizeof jar + sizeof OPTION];
  snprintf(named, sizeof named, OPTION "%s", jar);
  if (contains_option(before, named)) return;
  if (setenv(VARIABLE, options, 1) != 0) log_line(LOG_WARN, VARIABLE ": %s; the agent is not started", strerror(errno));
}
