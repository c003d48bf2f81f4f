/** Text for people and JSON: bytes, durations and choices look the same in every face. */
@NullMarked
package io.mallometer.internal.text;

import org.jspecify.annotations.NullMarked;
