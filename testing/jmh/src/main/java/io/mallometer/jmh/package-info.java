/** Native memory in benchmarks of JMH. */
@NullMarked
package io.mallometer.jmh;

import org.jspecify.annotations.NullMarked;
