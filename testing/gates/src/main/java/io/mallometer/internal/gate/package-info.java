/**
 * Gates for builds: they compare measured native memory with a baseline or with the thresholds of a
 * project. The command line and the Maven plugin use this package. It uses no other package of the
 * project and runs in no application.
 */
@NullMarked
package io.mallometer.internal.gate;

import org.jspecify.annotations.NullMarked;
