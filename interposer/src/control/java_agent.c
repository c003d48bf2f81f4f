/* See java_agent.h. */
#include "control/java_agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/log.h"

#define VARIABLE "JAVA_TOOL_OPTIONS"
#define OPTION "-javaagent:"
#define LONGEST_OPTIONS 8192u

void java_agent_name(const char *agent) {
  static char options[LONGEST_OPTIONS];
  char jar[1024];
  size_t length = strcspn(agent, "=");
  if (length >= sizeof jar) {
    log_line(LOG_WARN, "MALLOMETER_AGENT: the path is too long; the agent is not started");
    return;
  }
  memcpy(jar, agent, length);
  jar[length] = '\0';
  if (access(jar, R_OK) != 0) {
    log_line(LOG_WARN, "MALLOMETER_AGENT: %s: %s; the agent is not started", jar, strerror(errno));
    return;
  }
  const char *before = getenv(VARIABLE);
  int written =
      snprintf(options, sizeof options, "%s%s" OPTION "%s", before ? before : "", before && *before ? " " : "", agent);
  if (written < 0 || (size_t)written >= sizeof options) {
    log_line(LOG_WARN, VARIABLE " is too long to name the agent in it; the agent is not started");
    return;
  }
  /* A JVM that this one starts, or the launcher that executes itself again, inherits both variables. */
  char named[sizeof jar + sizeof OPTION];
  snprintf(named, sizeof named, OPTION "%s", jar);
  if (before && strstr(before, named)) return;
  if (setenv(VARIABLE, options, 1) != 0) log_line(LOG_WARN, VARIABLE ": %s; the agent is not started", strerror(errno));
}
