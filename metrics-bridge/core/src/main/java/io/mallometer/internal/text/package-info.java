/**
 * Formats and parses text, so that bytes, durations and choices look the same in JMX, pages and
 * reports.
 */
@NullMarked
package io.mallometer.internal.text;

import org.jspecify.annotations.NullMarked;
