/**
 * The poll: each reader reads a part of the snapshot at its own interval, and the snapshot is
 * published for JMX, metrics, pages and other outputs.
 */
@NullMarked
package io.mallometer.internal.engine;

import org.jspecify.annotations.NullMarked;
