/**
 * The faces for Prometheus' own Java clients: a collector for simpleclient, and for either client
 * the real histogram of request sizes, which Micrometer cannot carry.
 */
@NullMarked
package io.mallometer.prometheus;

import org.jspecify.annotations.NullMarked;
