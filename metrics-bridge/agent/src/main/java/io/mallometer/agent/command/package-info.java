/**
 * The command line. Runs in a JVM of its own, from a jar inside the agent's that applications never
 * load.
 */
@NullMarked
package io.mallometer.agent.command;

import org.jspecify.annotations.NullMarked;
