/**
 * A small HTTP/1.1 server in which no client can delay the answers to others.
 *
 * <p>One thread moves the bytes of all connections and waits for no client. Answers are made in
 * {@link io.mallometer.agent.payload.http.WorkerPool worker pools}: each has threads for one kind
 * of work, so that slow work delays only its own kind. {@link
 * io.mallometer.agent.payload.http.ClientLimits} bounds how long a client may keep the server
 * waiting.
 *
 * <p>The JDK's server has neither property: it reads and writes in the threads that make the
 * answers, and its limits are system properties, which belong to the application. The smallest
 * suitable library is Apache HttpCore. It adds 1 MB to the agent, and opening the port at the start
 * of a JVM takes three times the CPU time. It limits silence but not slowness, and answers no more
 * after the process has run out of file descriptors once.
 */
@NullMarked
package io.mallometer.agent.payload.http;

import org.jspecify.annotations.NullMarked;
