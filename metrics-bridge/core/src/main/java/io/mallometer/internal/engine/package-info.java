/**
 * Polls the library, reads call sites and the allocator, judges, names, and publishes one snapshot
 * for all faces.
 */
@NullMarked
package io.mallometer.internal.engine;

import org.jspecify.annotations.NullMarked;
