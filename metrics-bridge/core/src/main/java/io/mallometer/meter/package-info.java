/** The list of meters, from which every face publishes. */
@NullMarked
package io.mallometer.meter;

import org.jspecify.annotations.NullMarked;
