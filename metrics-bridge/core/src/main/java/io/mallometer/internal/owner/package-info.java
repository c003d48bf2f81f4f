/** From a heap's objects and references to who keeps native memory. */
@NullMarked
package io.mallometer.internal.owner;

import org.jspecify.annotations.NullMarked;
