/** The bridge as a Java agent and a command line. */
@NullMarked
package io.mallometer.agent;

import org.jspecify.annotations.NullMarked;
