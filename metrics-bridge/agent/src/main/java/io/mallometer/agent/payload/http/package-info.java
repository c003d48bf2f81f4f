/**
 * A small server for HTTP/1.1, in which no client can keep the others from being answered.
 *
 * <p>One thread moves all bytes of all connections and waits for no client. Answers are made in
 * {@link io.mallometer.agent.payload.http.Lane lanes}, threads of one kind of work each, so that
 * what is slow holds up only its own kind. What a client may keep the server waiting for is bounded
 * by {@link io.mallometer.agent.payload.http.Limits}.
 *
 * <p>The JDK's server offers neither: it reads and writes in the threads that make the answers, and
 * its limits are properties of the whole JVM, which are the application's. Of the libraries that
 * would do, Apache HttpCore is the smallest: a megabyte in the agent, three times the processor
 * time that a port adds to the start of a JVM, limits on silence but none on slowness, and no
 * further answer after the process has run out of file descriptors once.
 */
@NullMarked
package io.mallometer.agent.payload.http;

import org.jspecify.annotations.NullMarked;
