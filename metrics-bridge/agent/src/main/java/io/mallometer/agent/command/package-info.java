/** The command line. It runs in a JVM of its own, from a jar that applications never load. */
@NullMarked
package io.mallometer.agent.command;

import org.jspecify.annotations.NullMarked;
