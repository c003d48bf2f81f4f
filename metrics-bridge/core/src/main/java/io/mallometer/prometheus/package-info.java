/**
 * Exports to Prometheus' own Java clients: a collector for simpleclient, and for both clients the
 * real histogram of request sizes, which Micrometer cannot carry.
 */
@NullMarked
package io.mallometer.prometheus;

import org.jspecify.annotations.NullMarked;
