/**
 * The face for JConsole and every other JMX client: {@code io.mallometer:type=NativeMemory} and
 * {@code io.mallometer:type=Allocator}.
 */
@NullMarked
package io.mallometer.jmx;

import org.jspecify.annotations.NullMarked;
