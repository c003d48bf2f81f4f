/**
 * Text for people and JSON: how bytes, durations and choices are written, the same in every face.
 */
@NullMarked
package io.mallometer.internal.text;

import org.jspecify.annotations.NullMarked;
