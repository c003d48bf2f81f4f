/**
 * The Java agent and the command line, in one jar.
 *
 * <p>An agent's jar joins the application's class path, so it holds only these few classes and two
 * nested jars: the agent's other code, and the command line. {@link
 * io.mallometer.agent.PayloadLoader} loads the nested jars where the application cannot see them.
 * {@link io.mallometer.agent.Payload} calls them and passes only types of the JDK.
 */
@NullMarked
package io.mallometer.agent;

import org.jspecify.annotations.NullMarked;
