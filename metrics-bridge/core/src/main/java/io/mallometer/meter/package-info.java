/** The list of meters, which every face that publishes meters goes through. */
@NullMarked
package io.mallometer.meter;

import org.jspecify.annotations.NullMarked;
