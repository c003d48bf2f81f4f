/**
 * Text for people and JSON: bytes, durations and choices look the same in JMX, pages and reports.
 */
@NullMarked
package io.mallometer.internal.text;

import org.jspecify.annotations.NullMarked;
