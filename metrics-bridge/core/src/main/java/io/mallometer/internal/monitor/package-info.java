/** Monitors, named phases of the process's life, huge requests and trims. */
@NullMarked
package io.mallometer.internal.monitor;

import org.jspecify.annotations.NullMarked;
