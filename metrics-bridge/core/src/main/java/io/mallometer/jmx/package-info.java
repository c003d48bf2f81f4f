/** The face for JConsole and every other JMX client: {@code io.mallometer:type=NativeMemory}. */
@NullMarked
package io.mallometer.jmx;

import org.jspecify.annotations.NullMarked;
