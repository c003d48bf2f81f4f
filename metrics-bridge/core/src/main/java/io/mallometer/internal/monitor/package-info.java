/** Monitors, phases of the process, huge requests and trims. */
@NullMarked
package io.mallometer.internal.monitor;

import org.jspecify.annotations.NullMarked;
