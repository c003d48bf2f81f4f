/** The face for Java Flight Recorder. Needs the module {@code jdk.jfr}, and is nothing without. */
@NullMarked
package io.mallometer.jfr;

import org.jspecify.annotations.NullMarked;
