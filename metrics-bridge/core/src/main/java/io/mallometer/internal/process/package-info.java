/**
 * The memory of the process as the operating system sees it: resident memory by kind, the charge of
 * the memory cgroup, and the memory that the configuration may need. It needs no native library.
 *
 * <p>Parsers take text and never throw for a corrupt text: figures that cannot be read are unknown.
 */
@NullMarked
package io.mallometer.internal.process;

import org.jspecify.annotations.NullMarked;
