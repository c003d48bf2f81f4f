/**
 * The built-in monitors, the record of their events and of the process's named phases, the watch
 * for huge requests, and the return of free memory to the kernel (trims).
 */
@NullMarked
package io.mallometer.internal.monitor;

import org.jspecify.annotations.NullMarked;
