/*
 * Names mallometer's agent to a JVM that starts in this process (MALLOMETER_AGENT).
 *
 * A JVM ends at once if the jar that -javaagent names is missing or not whole, or if its image cannot load agents,
 * which a deployment that only brings files into a container cannot exclude. The loader goes on without a library that
 * it cannot load. So the library names the jar: where it was not loaded nobody does, and where the JVM would end it
 * starts without the agent.
 */
#ifndef MALLOMETER_CONTROL_JAVA_AGENT_H
#define MALLOMETER_CONTROL_JAVA_AGENT_H

/*
 * Appends -javaagent:`agent` to JAVA_TOOL_OPTIONS, where every JVM looks, unless the variable has it already. `agent`
 * is the jar's path, and what follows a = are the agent's options. Says on standard error why it does not. To be called
 * before main: it changes the environment.
 */
void java_agent_name(const char *agent);

#endif
