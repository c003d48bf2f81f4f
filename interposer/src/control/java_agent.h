/*
 * Adds mallometer's agent to the options of a JVM that starts in this process (MALLOMETER_AGENT).
 *
 * A JVM ends at its start if the jar of -javaagent is missing or incomplete, or if the JVM cannot load agents. The
 * library therefore tests the jar and the JVM before it adds the option.
 */
#ifndef MALLOMETER_CONTROL_JAVA_AGENT_H
#define MALLOMETER_CONTROL_JAVA_AGENT_H

/*
 * Appends -javaagent:`agent` to JAVA_TOOL_OPTIONS, unless it is there already. `agent` is the jar's path, or the path
 * followed by "=" and the agent's options. Writes the reason of a failure to standard error. Must be called before
 * main, because it changes the environment.
 */
void java_agent_append(const char *agent);

#endif
