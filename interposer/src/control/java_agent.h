/*
 * Names mallometer's agent to a JVM that starts in this process (MALLOMETER_AGENT).
 *
 * A JVM ends at its start if the jar that -javaagent names is missing or incomplete, or if the JVM cannot load agents.
 * A deployment that only copies files into a container cannot exclude that. The dynamic loader, however, continues
 * without a library that it cannot load. Therefore the library names the jar, and leaves out a jar that would end the
 * JVM.
 */
#ifndef MALLOMETER_CONTROL_JAVA_AGENT_H
#define MALLOMETER_CONTROL_JAVA_AGENT_H

/*
 * Appends -javaagent:`agent` to JAVA_TOOL_OPTIONS, which every JVM reads, unless the variable has it already. `agent`
 * is the jar's path, and a = and the agent's options may follow. If the option cannot be appended, writes the reason to
 * standard error. Must be called before main, because it changes the environment.
 */
void java_agent_append(const char *agent);

#endif
