/**
 * Exports to Prometheus' own Java clients: a collector for simpleclient, and the histogram of
 * request sizes, which Micrometer cannot export.
 */
@NullMarked
package io.mallometer.prometheus;

import org.jspecify.annotations.NullMarked;
