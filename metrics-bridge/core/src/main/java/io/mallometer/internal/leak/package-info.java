/**
 * From what was seen of the use of sampled objects to verdicts: which call sites leak. Knows the
 * records of {@code io.mallometer} and nothing of where the evidence comes from.
 */
@NullMarked
package io.mallometer.internal.leak;

import org.jspecify.annotations.NullMarked;
