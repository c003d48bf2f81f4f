/** Finds the Java objects that keep native memory, from a heap's objects and references. */
@NullMarked
package io.mallometer.internal.owner;

import org.jspecify.annotations.NullMarked;
