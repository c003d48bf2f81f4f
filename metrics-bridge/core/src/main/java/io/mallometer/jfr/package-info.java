/** Events for Java Flight Recorder. Does nothing without the module {@code jdk.jfr}. */
@NullMarked
package io.mallometer.jfr;

import org.jspecify.annotations.NullMarked;
