/**
 * The face for JConsole and every other JMX client: the MBeans of {@link
 * io.mallometer.jmx.NativeMemoryMBeans}.
 */
@NullMarked
package io.mallometer.jmx;

import org.jspecify.annotations.NullMarked;
