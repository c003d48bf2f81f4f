/** Native memory whose Java owner is known, and whether the search for owners finds it. */
@NullMarked
package io.mallometer.benchmarks.owner;

import org.jspecify.annotations.NullMarked;
