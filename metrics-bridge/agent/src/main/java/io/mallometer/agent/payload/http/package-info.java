/**
 * A small HTTP/1.1 server in which no client can delay the answers to others.
 *
 * <p>One thread moves the bytes of all connections and waits for no client. {@link
 * io.mallometer.agent.payload.http.WorkerPool Worker pools} make the answers: each has threads for
 * one kind of work, so that slow work delays only its own kind. {@link
 * io.mallometer.agent.payload.http.ClientLimits} bounds how long a client may keep the server
 * waiting.
 *
 * <p>The JDK's server does not fit: it reads and writes in the threads that make the answers, and
 * its limits are system properties, which belong to the application. Apache HttpCore adds 1 MB to
 * the agent, does not limit slow clients, and answers no more once the process has run out of file
 * descriptors.
 */
@NullMarked
package io.mallometer.agent.payload.http;

import org.jspecify.annotations.NullMarked;
